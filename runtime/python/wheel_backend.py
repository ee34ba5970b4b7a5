# SPDX-License-Identifier: Apache-2.0
"""meson-python, and two things that it leaves to say: that the wheel is for every Python from the first version of the
stable ABI in use on, and that without the compiler pwlc it is under the Apache licence alone.

pwl._core calls nothing that Python 3.9 lacks; tests/python runs one build by the oldest and the newest Python.
"""
import base64
import hashlib
import os
import pathlib
import re
import zipfile

from mesonpy import *  # noqa: F401,F403
import mesonpy

OLDEST = "cp39"
COMPILER = "GPL-3.0-or-later"


def changed(name, data, with_compiler):
    """A file of the wheel as it should be; None to leave it out."""
    if name.endswith(".dist-info/WHEEL"):
        return re.sub(rb"^Tag: cp3\d+-abi3-", f"Tag: {OLDEST}-abi3-".encode(), data, flags=re.M)
    if not with_compiler and name.endswith(".dist-info/METADATA"):
        data = data.replace(f" AND {COMPILER}".encode(), b"")
        return re.sub(rf"^License-File: .*{COMPILER}.*\n".encode(), b"", data, flags=re.M)
    if not with_compiler and ".dist-info/" in name and COMPILER in name:
        return None
    return data


def rewrite(path, new):
    """The wheel anew, with its record of hashes."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as out:
        entries = old.infolist()
        with_compiler = any(re.search(r"/scripts/pwlc(\.exe)?$", entry.filename) for entry in entries)
        record = ""
        for entry in entries:
            if entry.filename.endswith(".dist-info/RECORD"):
                record_entry = entry
                continue
            data = changed(entry.filename, old.read(entry), with_compiler)
            if data is not None:
                out.writestr(entry, data, zipfile.ZIP_DEFLATED)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record += f"{entry.filename},sha256={digest},{len(data)}\n"
        out.writestr(record_entry, f"{record}{record_entry.filename},,\n", zipfile.ZIP_DEFLATED)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)
    path = pathlib.Path(wheel_directory) / name
    tagged = re.sub(r"-cp3\d+-abi3-", f"-{OLDEST}-abi3-", name)
    part = path.with_suffix(".part")
    rewrite(path, part)
    path.unlink()
    os.replace(part, path.with_name(tagged))
    return tagged
