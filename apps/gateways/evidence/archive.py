"""Builds an archive (tar.gz) from parts: pure, from values to octets. What a gateway sends decides no name and no size in it."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import fill
from typing import Final

from django.utils import translation

from apps.gateways.evidence.part_texts import EXPLANATIONS, FILES, README, TITLES
from firewall.evidence import LARGEST, EvidencePart

LONGEST_NOTE: Final = 300
WIDTH: Final = 100  # columns of README.txt


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A file of an archive. octets: None if it is missing; note: why, or what is missing in it; "" if nothing is."""

    name: str
    octets: bytes | None
    note: str = ""
    milliseconds: int = 0


def unpack_part(part: EvidencePart) -> ArchiveEntry:
    """Return the entry of a gateway's part. What cannot be expanded within its limit is left out, with a note."""
    name, note = FILES[part.kind], " ".join(part.note.split())[:LONGEST_NOTE]
    if not part.deflated:
        return ArchiveEntry(name, None, note, part.milliseconds)
    expander = zlib.decompressobj()
    try:
        octets = expander.decompress(part.deflated, LARGEST[part.kind])
    except zlib.error:
        return ArchiveEntry(name, None, "The gateway sent something that cannot be expanded.", part.milliseconds)
    if not expander.eof:
        return ArchiveEntry(name, None, "The gateway sent more than it may.", part.milliseconds)
    return ArchiveEntry(name, octets, note, part.milliseconds)


def build_archive(folder: str, head: Sequence[str], entries: Sequence[ArchiveEntry], at: datetime) -> bytes:
    """Return the archive: README.txt, which begins with the lines of `head`, and each entry, below one folder.

    at: time of all files. The same values make the same octets.
    """
    files = [(README, _render_readme(head, entries).encode()), *((each.name, each.octets) for each in entries if each.octets is not None)]
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=int(at.timestamp())) as squeezed,
        tarfile.open(mode="w", fileobj=squeezed, format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, octets in files:
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(octets), int(at.timestamp()), 0o600
            archive.addfile(entry, io.BytesIO(octets))
    return packed.getvalue()


def _render_readme(head: Sequence[str], entries: Sequence[ArchiveEntry]) -> str:
    """Return the text, in English, as logs are."""
    with translation.override("en"):
        return "\n".join([*head, "", *(line for each in entries for line in _render_entry(each))])


def _render_entry(entry: ArchiveEntry) -> list[str]:
    size = "missing" if entry.octets is None else f"{len(entry.octets)} octets"
    texts = [str(EXPLANATIONS[entry.name]), *([f"NOTE: {entry.note}"] if entry.note else [])]
    indented = [fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ") for text in texts]
    return [f"{entry.name}: {TITLES[entry.name]} ({size})", *indented, ""]
