"""Removes the quoted mail from a reply's text, in linear time."""

from typing import Final

ENDS_LIKE_AN_INTRODUCTION: Final = (":", "：")
INTRODUCTION: Final = 3  # lines that “On …, … wrote:” may take


def strip_quote(text: str) -> str:
    """Return the text without the quote at its end and the lines that introduce it; the whole text where nothing else would be left."""
    lines = text.rstrip().split("\n")
    end = len(lines)
    while end and _is_quoted(lines[end - 1]):
        end -= 1
    if end == len(lines):
        return text.strip()
    return "\n".join(lines[: _skip_introduction(lines, end)]).strip() or text.strip()


def _is_quoted(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(">")


def _skip_introduction(lines: list[str], end: int) -> int:
    if not end or not lines[end - 1].rstrip().endswith(ENDS_LIKE_AN_INTRODUCTION):
        return end
    for start in range(end - 1, max(end - 1 - INTRODUCTION, -1), -1):
        if start == 0 or not lines[start - 1].strip():
            return start
    return end - 1
