"""Sanitises HTML of strangers for pages, and extracts its text; also of HTML that is too costly to parse.

The result loads nothing: no pictures, no styles, no frames. Links have `rel`, and lead only to web and mail addresses.
"""

import re
from collections import Counter
from html import unescape
from typing import Final

import nh3

from apps.inbound_mail.charsets import clean_text
from apps.inbound_mail.parse_limits import ParseLimits

SHOWN: Final = {
    "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
    "ins", "kbd", "li", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "u", "ul",
}  # fmt: skip
ATTRIBUTES: Final = {"a": {"href"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}}
WITHOUT_WORDS: Final = {"script", "style", "title", "head", "template", "noscript", "iframe", "object", "svg", "math"}
APART: Final = {"p", "table", "ul", "ol", "dl", "blockquote", "pre"}
BLOCKS: Final = APART | {"div", "br", "hr", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "dd"}
NAME: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
END_BY_THEMSELVES: Final = {
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p", "source", "tbody", "td",
    "tfoot", "th", "thead", "tr", "wbr",
}  # fmt: skip
TAG: Final = re.compile(r"</?([a-z0-9]+)>")
BETWEEN_TAGS: Final = re.compile(r"[^<>]+")
PIECE: Final = re.compile("(?s).{4000}[^&]*")
FEW: Final = 500  # `&` in a text that is not broken up
MANY_BREAKS: Final = re.compile(r"\n{3,}")
BLANKS: Final = re.compile(r"\s+")
LONG_REFERENCE: Final = re.compile("&#[0-9]{8,};?")  # to no character; Python does not read numbers of any length
# comments, elements without words, and tags, each also if it does not end: so no character is looked at twice
MARKUP: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|title)\b.*?(?:</\1[^<>]*>?|\Z)|<[!?][^<>]*>?|</?([a-z][a-z0-9]*)[^<>]*>?", re.IGNORECASE | re.DOTALL
)


def is_html_cheap_to_parse(html: str, limits: ParseLimits) -> bool:
    """Whether an HTML parser takes linear time for it: parsers of the standard search all open elements, and all attributes of a tag."""
    pieces = html.split("<")
    if len(html) > limits.html or len(pieces) > limits.tags or any(len(each.split()) > limits.blanks for each in pieces):
        return False
    if html.count("&") > limits.blanks and any(each.partition(">")[0].count("&") > limits.blanks for each in pieces[1:]):
        return False
    depth, is_open = 0, Counter[str]()
    for closes, given in NAME.findall(html):
        name = given.lower()
        step = -1 if closes else 1
        if name in END_BY_THEMSELVES or is_open[name] + step < 0:
            continue
        depth, is_open[name] = depth + step, is_open[name] + step
        if depth > limits.nested:
            return False
    return True


def sanitize_html(html: str) -> str:
    """Return the HTML that pages may show."""
    made = nh3.clean(
        _break_up_html(html), tags=SHOWN, clean_content_tags=WITHOUT_WORDS, attributes=ATTRIBUTES, url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow", strip_comments=True,
    )  # fmt: skip
    return clean_text(made).strip()


def extract_html_text(html: str) -> str:
    """Return the text, a line for each block. Takes output of `sanitize_html`: its tags are complete, other angle brackets are escaped."""
    bare = nh3.clean(_break_up_html(html), tags=BLOCKS, attributes={}, clean_content_tags=WITHOUT_WORDS)
    lines = unescape(TAG.sub(_render_break, " ".join(bare.split()))).replace("\xa0", " ").split("\n")
    return MANY_BREAKS.sub("\n\n", "\n".join(line.strip() for line in lines)).strip()


def extract_text_between_tags(html: str) -> str:
    """Return the text, a line for each block, of HTML that `is_html_cheap_to_parse` refuses. Takes linear time, because it knows no
    elements but those that hide their text: it shows a little too much of a tag with angle brackets in its attributes.
    """
    bare = MARKUP.sub(_render_any_break, BLANKS.sub(" ", html))
    lines = clean_text(unescape(LONG_REFERENCE.sub("\ufffd", bare))).replace("\xa0", " ").split("\n")
    return MANY_BREAKS.sub("\n\n", "\n".join(line.strip() for line in lines)).strip()


def _render_any_break(markup: re.Match[str]) -> str:
    name = (markup[2] or "").lower()
    return "\n\n" if name in APART else "\n" if name in BLOCKS else ""


def _break_up_html(html: str) -> str:
    """Insert comments into long texts: from each `&`, nh3 searches to the end of the text, which takes quadratic time."""
    return BETWEEN_TAGS.sub(_break_up_text, html) if html.count("&") > FEW else html


def _break_up_text(text: re.Match[str]) -> str:
    return PIECE.sub(r"\g<0><!---->", text[0]) if text[0].count("&") > FEW else text[0]


def _render_break(tag: re.Match[str]) -> str:
    return "\n\n" if tag[1] in APART else "\n"
