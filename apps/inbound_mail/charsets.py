"""Decodes octets in the charset that a mail names, if it is one: never raises, and takes time in proportion to the text's length.

Not every codec of Python is a charset of mail: `punycode` and `idna` take quadratic time, `unicode_escape` is program text.
"""

import codecs
import re
from typing import Final

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,39}")
FAMILIES: Final = (
    "utf", "iso8859", "iso2022", "ascii", "cp", "koi8", "gb", "big5", "euc", "shift", "mac", "hz", "johab", "tis", "ptcp", "kz",
)  # fmt: skip
FOREIGN: Final = {"unicode-1-1-utf-7": "utf-7", "ks_c_5601-1987": "cp949", "x-mac-roman": "mac_roman", "utf8mb4": "utf-8", "ansi": "cp1252"}
CONTROLS: Final = {each: None for each in range(32) if chr(each) not in "\t\n"} | {127: None} | dict.fromkeys(range(0x80, 0xA0))


def decode_text(octets: bytes, charset: str = "") -> str:
    """Decode the octets. Without a known charset they are decoded as UTF-8 if they are valid, else as Windows-1252."""
    known = find_codec(charset)
    if known and known != "ascii":
        return clean_text(octets.decode(known, "replace"))
    try:
        return clean_text(octets.decode())
    except UnicodeDecodeError:
        return clean_text(octets.decode("cp1252", "replace"))


def find_codec(charset: str) -> str:
    """Return the name of Python's codec for the charset, "" if it is not a charset of mail."""
    name = charset.strip().lower()
    if not NAME.fullmatch(name):
        return ""
    try:
        found = codecs.lookup(FOREIGN.get(name, name)).name
    except (LookupError, ValueError):
        return ""
    return found if found.startswith(FAMILIES) else ""


def clean_text(text: str) -> str:
    """Return the text with lines that end in \\n, without NUL, other control characters and lone surrogates."""
    told = text if text.isascii() else text.encode("utf-8", "replace").decode()
    return told.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").translate(CONTROLS)


def collapse_lines(text: str, most: int) -> str:
    """Return the text as one line for a header: single spaces, at most `most` characters."""
    return " ".join(clean_text(text).split())[:most]
