# SPDX-License-Identifier: Apache-2.0
"""Files, written as pwlc writes them: whole or not at all."""
from __future__ import annotations

import errno
import os
import secrets
import stat
from typing import Optional

__all__ = ["write"]

MOST_LINKS = 8  # that are followed to a descriptor
STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


def _descriptor_of(path: str) -> Optional[int]:
    """The open descriptor that a path names, as /dev/stdout and /dev/fd/3 do; None for every other path."""
    folders = ("/dev/fd", "/proc/self/fd", "/proc/thread-self/fd", f"/proc/{os.getpid()}/fd")
    for _ in range(MOST_LINKS):
        if path in STREAMS:
            return STREAMS[path]
        folder, name = os.path.split(path)
        if folder in folders and name.isdecimal():
            return int(name)
        if not os.path.islink(path):
            break
        path = os.path.join(folder, os.readlink(path))
    return None


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left):]


def _has(path: str, data: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(data) + 1) == data
    except OSError:
        return False


def _replace(path: str, old: Optional[os.stat_result], data: bytes) -> None:
    """Gives a new file its place once it is whole. It has the permissions of the old one before its first byte, but not
    set-user-ID and the like: it belongs to who runs this."""
    temporary = os.path.join(os.path.dirname(path), f".pwl-{os.getpid()}-{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        try:
            if old is not None:
                os.chmod(temporary, stat.S_IMODE(old.st_mode) & 0o777)
            _write_all(descriptor, data)
            try:
                os.fsync(descriptor)  # without it a crash soon after may leave an empty file
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems have none
                    raise
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write(path: str, data: bytes) -> None:
    """Writes a file: path then holds the old content or the new, never a part. The file behind a link is replaced, not the
    link. An unchanged file is not touched; one that may not be written is refused. What is no regular file, as a device or
    a pipe, and descriptors that are open, as /dev/fd/3, are written into."""
    descriptor = _descriptor_of(path)
    if descriptor is not None:
        _write_all(descriptor, data)
        return
    path = os.path.realpath(path)
    try:
        old: Optional[os.stat_result] = os.stat(path)
    except FileNotFoundError:
        old = None
    if old is None:
        _replace(path, None, data)
    elif not stat.S_ISREG(old.st_mode):
        descriptor = os.open(path, os.O_WRONLY)
        try:
            _write_all(descriptor, data)
        finally:
            os.close(descriptor)
    elif not _has(path, data):
        if not os.access(path, os.W_OK):  # a rename would replace even a file that is protected
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        _replace(path, old, data)
