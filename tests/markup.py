"""Normalises HTML as a browser reads it: drops white space that only formats the source, so that tests compare elements and words."""

import re

INLINE = frozenset(("a", "b", "bdi", "code", "em", "i", "kbd", "small", "span", "strong", "sub", "sup", "time"))
_KEPT = "script|style|pre|textarea"
_PIECE = re.compile(rf"(<!--.*?-->|<(?:{_KEPT})\b.*?</(?:{_KEPT})>|</?[a-zA-Z!][^<>]*>)", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def squeeze_markup(html: str) -> str:
    """Return the page without its line breaks. Between words, and between a word and an inline element, one space stays."""
    pieces = _PIECE.split(html)
    return "".join(_squeeze(pieces, at) for at in range(len(pieces)))


def _squeeze(pieces: list[str], at: int) -> str:
    piece = pieces[at]
    if at % 2:  # a tag, or an element with preformatted text
        return re.sub(r"\s*\n\s*", " ", piece).replace(" >", ">") if _TAG.fullmatch(piece) else piece
    before = pieces[at - 1] if at else ""
    after = pieces[at + 1] if at + 1 < len(pieces) else ""
    text = re.sub(r"\s*\n\s*", "\n", piece)
    start = " " if _is_inline(before) and before.startswith("</") else ""
    end = " " if _is_inline(after) and not after.startswith("</") else ""
    if not text.strip():
        return text if "\n" not in text else (" " if start and end else "")
    if text.startswith("\n"):
        text = start + text[1:]
    if text.endswith("\n"):
        text = text[:-1] + end
    return text.replace("\n", " ")


def _is_inline(tag: str) -> bool:
    found = re.match(r"</?([a-zA-Z][\w-]*)", tag)
    return found is not None and found[1].lower() in INLINE
