# SPDX-License-Identifier: Apache-2.0
"""The JSON of a table, read as strictly as pwlc reads it: no field of one name twice, no number beyond its type, each
field asked for by name and limits."""
from __future__ import annotations

import hashlib
import json
import os
import struct
import warnings
from typing import TYPE_CHECKING, Any, Collection, Mapping, Sequence, Union

from . import files
from .errors import Error, shown

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_BYTES = 4 << 20  # of a file, as for pwlc


class Fields:
    """An object of the JSON whose fields are asked for by name, with a path for messages."""

    def __init__(self, path: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise Error(f"{path}: must be an object")
        self.path, self.value = path, value

    def name(self, field: str) -> str:
        return f"{self.path}.{field}" if self.path else field

    def __contains__(self, field: str) -> bool:
        return field in self.value

    def get(self, field: str) -> Any:
        if field not in self.value:
            raise Error(f"{self.name(field)}: is missing")
        return self.value[field]

    def integer(self, field: str, low: int, high: int) -> int:
        value = self.get(field)
        if type(value) is not int or not low <= value <= high:
            raise Error(f"{self.name(field)}: {shown(value)}, must be an integer from {low} to {high}")
        return value

    def choice(self, field: str, choices: Sequence[Any]) -> int:
        """Which of the choices it is."""
        value = self.get(field)
        if value not in choices:
            raise Error(f"{self.name(field)}: {shown(value)}, must be one of {', '.join(map(str, choices))}")
        return choices.index(value)

    def object(self, field: str, known: Collection[str]) -> Fields:
        inner = Fields(self.name(field), self.get(field))
        inner.only(known)
        return inner

    def only(self, known: Collection[str]) -> None:
        for field in self.value:
            if field not in known:
                raise Error(f"{self.name(field)}: unknown field")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; the second of two fields of one name would hide the first."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Error(f"{shown(twice)}: appears twice in one object")
    return fields


def _integer(digits: str) -> int:
    value = int(digits) if len(digits) <= 20 else None
    if value is None or not -(1 << 63) <= value < 1 << 63:
        raise Error(f"{digits if len(digits) <= 40 else digits[:37] + '...'}: an integer beyond 64 bits")
    return value


def _real(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Error(f"{digits[:40]}: a number beyond double precision")
    return value


def _no_number(name: str) -> Any:
    raise Error(f"{name}: is no number of JSON")


def parse(data: bytes, most: int = MOST_BYTES) -> Any:
    """The document in a table's JSON, of at most so many bytes."""
    if len(data) > most:
        raise Error(f"larger than the limit of {most} bytes")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_int=_integer, parse_float=_real,
                          parse_constant=_no_number)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Error(str(error)) from None


REALS = {"parameters", "eps", "gamma", "beta", "certificate"}  # fields that have real numbers inside


def _spelled(value: Any, has_reals: bool) -> Any:
    """A copy in which a real number, which JSON writers spell in many ways, stands as the bits of its double."""
    if isinstance(value, dict):
        return {name: _spelled(part, has_reals or name in REALS) for name, part in value.items()}
    if isinstance(value, list):
        return [_spelled(part, has_reals) for part in value]
    return struct.pack(">d", value).hex() if has_reals and type(value) in (int, float) else value


def counts(top: Fields, path: str, stacklevel: int) -> bool:
    """Whether a certificate counts: its hash is that of the file it stands in, as docs/table-json.md defines it. A warning
    where it is not."""
    if "certificate" not in top:
        return False
    fields = {name: value for name, value in top.value.items() if name != "hash"}
    try:
        text = json.dumps(_spelled(fields, False), sort_keys=True, separators=(",", ":"))
    except RecursionError as error:
        raise Error(str(error)) from None
    if top.value.get("hash") == hashlib.sha256(text.encode()).hexdigest():
        return True
    warnings.warn(f"{path}hash: not that of what stands here and of its certificate, which is left out; `pwlc certify` writes "
                  "a file with a true one", stacklevel=stacklevel + 1)
    return False


def write(content: Any) -> bytes:
    """The JSON of a document that was made in Python."""
    try:
        return (json.dumps(content, indent=2, allow_nan=False) + "\n").encode()
    except (TypeError, ValueError) as error:
        raise Error(f"no JSON can be made of it: {error}") from None


def read(path: Union[str, os.PathLike[str]], most: int = MOST_BYTES) -> bytes:
    """A file's bytes, one more than it may have at most. Room is taken for what the file has, where it says that."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return file.read((min(size, most) if size > 0 else most) + 1)


class Kept:
    """What is made of a JSON document of pwlc, and keeps it byte for byte: a table or an operator."""

    MOST_BYTES = MOST_BYTES
    _json: bytes

    def __new__(cls, content: Union[Mapping[str, Any], bytes, str]) -> Self:
        """From the text of the JSON, or from what it says as a dict."""
        return cls._make(content, "")

    @classmethod
    def _make(cls, content: Union[Mapping[str, Any], bytes, str], path: str, parsed: Any = None) -> Self:
        """A warning begins with the path. parsed is what parse() makes of the content's bytes, where that is known."""
        if isinstance(content, str):
            content = content.encode()
        if parsed is None:
            parsed = parse(content, cls.MOST_BYTES) if isinstance(content, bytes) else content
        self = cls._read(Fields("", parsed), path)
        self._json = content if isinstance(content, bytes) else write(content)
        return self

    @classmethod
    def _read(cls, top: Fields, path: str) -> Self:
        """From the document's fields; for the classes that are made so."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._json,)

    def to_json(self) -> str:
        """The JSON, byte for byte as it was read."""
        return self._json.decode()

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes to_json() to a file, which is there whole or not at all, by the rules of pwlc: what is behind a link is
        replaced and not the link, permissions stay, a file that may not be written is refused, and devices, pipes and
        open descriptors are written into."""
        files.write(os.fsdecode(path), self._json)
