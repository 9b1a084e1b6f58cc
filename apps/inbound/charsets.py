"""Octets become text in the charset that a mail names, as far as that is one: never an exception, never more work than the text is long.

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
    """What the octets say. Without a charset, or with one that is none, they are UTF-8 if they can be, else Windows-1252."""
    known = find_codec(charset)
    if known and known != "ascii":
        return clean_text(octets.decode(known, "replace"))
    try:
        return clean_text(octets.decode())
    except UnicodeDecodeError:
        return clean_text(octets.decode("cp1252", "replace"))


def find_codec(charset: str) -> str:
    """The name of Python's codec for it, "" if it is no charset of mail."""
    name = charset.strip().lower()
    if not NAME.fullmatch(name):
        return ""
    try:
        found = codecs.lookup(FOREIGN.get(name, name)).name
    except (LookupError, ValueError):
        return ""
    return found if found.startswith(FAMILIES) else ""


def clean_text(text: str) -> str:
    """Lines end with \\n; without NUL, other controls and halves of characters."""
    told = text if text.isascii() else text.encode("utf-8", "replace").decode()
    return told.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").translate(CONTROLS)


def collapse_lines(text: str, most: int) -> str:
    """As a header holds it: one space where there was any, at most so many characters."""
    return " ".join(clean_text(text).split())[:most]
