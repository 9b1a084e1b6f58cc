"""Statements without the values in them: those may be names and addresses of members, which nobody needs who looks for a slow statement."""

import re
from typing import Final

LONGEST: Final = 300  # characters
_TOKEN: Final = re.compile(
    r"""(?P<name>"(?:[^"]|"")*(?:"|$))"""
    r"|(?P<comment>/\*.*?(?:\*/|$)|--[^\n]*)"
    r"|\b[eE]'(?:[^'\\]|\\.|'')*(?:'|\\?$)"  # text with escapes
    r"|'(?:[^']|'')*(?:'|$)"
    r"|\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|$)"
    r"|(?<![\w$])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b",
    re.DOTALL,
)
_LIST: Final = re.compile(r"\?(?:\s*,\s*\?)+")


def hide_values(statement: str) -> str:
    """Return the statement on one line with “?” for each value, shortened. A value that the server cut off counts up to the end."""
    plain = _LIST.sub("?, …", _TOKEN.sub(_replace, statement.replace("\0", "")))
    one_line = " ".join(plain.split())
    return one_line if len(one_line) <= LONGEST else one_line[: LONGEST - 1] + "…"


def _replace(token: re.Match[str]) -> str:
    if token["comment"]:
        return " "
    return token["name"] or "?"
