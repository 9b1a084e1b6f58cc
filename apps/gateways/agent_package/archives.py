"""Reproducible archives: the same files give the same bytes on every machine. Sorted, uncompressed, owned by root, without times."""

import io
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first time that the zip format can express
EARLIEST_SECONDS = 315_532_800  # the same in Unix time, for tar and ar
READABLE = 0o100644


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of an archive. path: without a leading slash."""

    path: str
    content: bytes
    mode: int = 0o644


def build_zip(contents: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of these files."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.external_attr = READABLE << 16
            entry.create_system = 3  # Unix, wherever it is built
            archive.writestr(entry, content)
    return target.getvalue()


def build_tar(files: Iterable[PackedFile], directories: Iterable[str] = ()) -> bytes:
    """Return a tar archive of the files, the given directories, and all their parents, as dpkg expects it: each path begins with “./”."""
    given = {file.path: file for file in files}
    folders = {"", *directories, *(parent for path in (*given, *directories) for parent in _list_parents(path))}
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted((*folders, *given)):
            file = given.get(path)
            entry = tarfile.TarInfo(f"./{path}" if path else ".")
            entry.mtime, entry.uname, entry.gname = EARLIEST_SECONDS, "root", "root"
            entry.type = tarfile.DIRTYPE if file is None else tarfile.REGTYPE
            entry.mode = 0o755 if file is None else file.mode
            entry.size = len(file.content) if file else 0
            archive.addfile(entry, io.BytesIO(file.content) if file else None)
    return target.getvalue()


def _list_parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: at + 1]) for at in range(len(parts))]


def build_ar(members: Mapping[str, bytes]) -> bytes:
    """Return an ar archive in the given order: a magic line, then 60 octets of header before each member (ar(5), deb(5))."""
    parts = [b"!<arch>\n"]
    for name, content in members.items():
        parts.append(f"{name:<16}{EARLIEST_SECONDS:<12}{0:<6}{0:<6}{READABLE:<8o}{len(content):<10}`\n".encode())
        parts.append(content + b"\n" * (len(content) % 2))
    return b"".join(parts)
