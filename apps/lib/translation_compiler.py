"""Compiles translations in Python, without GNU gettext: locale/**/LC_MESSAGES/django.po to .mo.

It reads what makemessages and translators write. Fuzzy and empty entries are left out, so that they appear in English.
"""

import ast
import os
import struct
from collections.abc import Iterator
from pathlib import Path

CONTEXT, PLURAL = "\x04", "\x00"


def compile_translations(roots: list[Path]) -> list[Path]:
    """Compile all .po files below these directories that are newer than their .mo files. Returns the compiled .po files."""
    stale = sorted({po for root in roots for po in root.glob("**/LC_MESSAGES/*.po") if _is_stale(po)})
    for po in stale:
        fresh = po.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(compile_catalog(po.read_text(encoding="utf-8")))
        fresh.replace(po.with_suffix(".mo"))
    return stale


def _is_stale(po: Path) -> bool:
    mo = po.with_suffix(".mo")
    return not mo.exists() or mo.stat().st_mtime < po.stat().st_mtime


def compile_catalog(text: str) -> bytes:
    """Return the contents of the .mo file (gettext manual, "The Format of GNU MO Files"), sorted by msgid, without a hash table."""
    entries = sorted((key.encode(), value.encode()) for key, value in iter_messages(text))
    keys, values = b"".join(key + b"\0" for key, _ in entries), b"".join(value + b"\0" for _, value in entries)
    start = 28 + 16 * len(entries)
    header = struct.pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, start)
    return (
        header
        + _build_table([key for key, _ in entries], start)
        + _build_table([value for _, value in entries], start + len(keys))
        + keys
        + values
    )


def _build_table(texts: list[bytes], offset: int) -> bytes:
    rows = b""
    for text in texts:
        rows += struct.pack("<2I", len(text), offset)
        offset += len(text) + 1
    return rows


def iter_messages(text: str) -> Iterator[tuple[str, str]]:
    """Yield msgid (with context and plural) and msgstr (with plurals) of every finished entry."""
    for block in text.split("\n\n"):
        lines = block.splitlines()
        fields = _parse_fields([line for line in lines if line and not line.startswith("#")])
        translated = [fields[name] for name in ("msgstr", "msgstr[0]", "msgstr[1]", "msgstr[2]") if fields.get(name)]
        finished = not fields.get("msgid") or not any(line.startswith("#,") and "fuzzy" in line for line in lines)
        if "msgid" in fields and translated and finished:
            ids = [fields["msgid"], *([fields["msgid_plural"]] if "msgid_plural" in fields else [])]
            prefix = fields["msgctxt"] + CONTEXT if "msgctxt" in fields else ""
            yield prefix + PLURAL.join(ids), PLURAL.join(translated)


def _parse_fields(lines: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in lines:
        if not line.startswith('"'):
            name, _, line = line.partition(" ")
        fields[name] = fields.get(name, "") + str(ast.literal_eval(line))
    return fields
