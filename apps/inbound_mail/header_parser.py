"""Parses headers in one pass from left to right, with time and memory in proportion to their length.

CPython's own parser of structured headers copies the rest of a header for each word, and parses comments by recursion. Comes in: a
header's value as the library keeps it (unfolded or not, octets above 127 as surrogates). Goes out: clean text.
"""

import binascii
import re
from collections.abc import Iterable, Iterator
from typing import Final

from apps.inbound_mail.charsets import collapse_lines, decode_text, find_codec
from apps.inbound_mail.message import MailAddress
from apps.inbound_mail.parse_limits import TOO_MANY_ADDRESSES, Unreadable
from apps.lib.email_address import lower_ascii

LONGEST: Final = 254  # octets of an address (RFC 5321, 4.5.3.1.3), and characters of a name
ENCODED: Final = re.compile(r"=\?([A-Za-z0-9_.:+-]{1,40})(?:\*[A-Za-z0-9-]{0,20})?\?([bBqQ])\?([^?]*)\?=")
REST: Final = r'(?P<comment>\()|<(?P<angle>[^<>]*)>?|(?P<end>[,;])|(?P<group>:)|(?P<word>[^\s"(<,;:]+)'
TOKEN: Final = re.compile(r'"(?P<quoted>[^"\\]*(?:\\.[^"\\]*)*)(?P<closed>"?)|' + REST, re.DOTALL)
UNQUOTED: Final = re.compile(REST)
IN_COMMENT: Final = re.compile(r"[()]|\\.?", re.DOTALL)
MESSAGE_ID: Final = re.compile(r"<[^<>\s]{1,248}>")
NOT_IN_ADDRESS: Final = re.compile(r"[\s<>(),;:\\]")


def decode_header(value: str, most: int = 998) -> str:
    """Decode encoded words (RFC 2047) and octets into one line of at most `most` characters."""
    return collapse_lines(_decode_words(value), most)


def parse_addresses(value: str, most: int) -> tuple[MailAddress, ...]:
    """Return the mailboxes of an address list (RFC 5322, 3.4), with groups, without invalid ones. Raises Unreadable beyond `most`."""
    found: list[MailAddress] = []
    for name, address in _iter_mailboxes(value):
        if made := parse_address(address, name):
            found.append(made)
        if len(found) > most:
            raise Unreadable(TOO_MANY_ADDRESSES)
    return tuple(found)


def parse_address(address: str, name: str = "") -> MailAddress | None:
    """Return the address; None if it is not local@domain."""
    local, _at, domain = address.rpartition(":")[2].strip().rpartition("@")  # <@relay:local@domain> is a source route (RFC 5321, C)
    whole = _decode_characters(f"{local}@{lower_ascii(domain).rstrip('.')}")
    if not local or not domain or len(whole) > LONGEST or NOT_IN_ADDRESS.search(whole):
        return None
    return MailAddress(decode_header(name, LONGEST), collapse_lines(whole, LONGEST))


def parse_message_ids(value: str, most: int) -> tuple[str, ...]:
    """Return the Message-IDs in angle brackets, each once, at its last position; at most `most`, the last ones."""
    there = MESSAGE_ID.findall(collapse_lines(_decode_characters(value), len(value)))
    return tuple(reversed(dict.fromkeys(reversed(there))))[-most:]


def _decode_characters(value: str) -> str:
    return value if value.isascii() else decode_text(value.encode("utf-8", "surrogateescape"))


def _decode_words(value: str) -> str:
    """Decode encoded words. Neighbours in the same charset are joined first, because a word may end within a character. Octets and spaces
    that programs leave unencoded within a word belong to it.
    """
    if "=?" not in value:
        return _decode_characters(value)
    return "".join(
        octets if isinstance(octets, str) else decode_text(octets, charset) for charset, octets in _join_runs(_iter_pieces(value))
    )


def _iter_pieces(value: str) -> Iterator[tuple[str, str | bytes]]:
    end, was_word = 0, False
    for match in ENCODED.finditer(value):
        octets = _decode_octets(match[2], match[3])
        between = value[end : match.start()]
        if between and not (was_word and between.isspace()):
            yield "", _decode_characters(between)
        end, was_word = match.end(), True
        yield (find_codec(match[1]) or "ascii", octets) if octets is not None else ("", _decode_characters(match[0]))
    yield "", _decode_characters(value[end:])


def _decode_octets(encoding: str, content: str) -> bytes | None:
    given = content.encode("utf-8", "surrogateescape")
    if encoding in "qQ":
        return binascii.a2b_qp(given, header=True)
    try:
        return binascii.a2b_base64(given + b"==")
    except binascii.Error:
        return None


def _join_runs(pieces: Iterable[tuple[str, str | bytes]]) -> Iterator[tuple[str, str | bytes]]:
    charset, gathered = "", list[bytes]()
    for name, piece in pieces:
        if gathered and (isinstance(piece, str) or name != charset):
            yield charset, b"".join(gathered)
            gathered = []
        if isinstance(piece, str):
            yield name, piece
        else:
            charset = name
            gathered.append(piece)
    if gathered:
        yield charset, b"".join(gathered)


def _iter_mailboxes(value: str) -> Iterator[tuple[str, str]]:
    """Yield name and address of each element of an address list."""
    words, bare, angle, comment, at, token, end = list[str](), list[list[str]](), "", "", 0, TOKEN, 0
    while match := token.search(value, at):
        at, kind = match.end(), match.lastgroup
        if kind == "closed" and not match[kind]:
            at, token = match.start() + 1, UNQUOTED  # an unclosed quote: from here on, quotes are ordinary characters
        elif kind == "comment":
            at = _skip_comment(value, at)
            comment = value[match.end() : at].rstrip(")")
        elif kind == "angle":
            angle = match["angle"].strip()
        elif kind == "end":
            yield _parse_mailbox(words, bare, angle, comment)
            words, bare, angle, comment = [], [], "", ""
        elif kind == "group" and not angle:
            words, bare = [], []
        elif kind in ("closed", "word"):
            words.append(match["word"] or match["quoted"].replace("\\", ""))
            if match.start() != end or not bare:
                bare.append([])
            bare[-1].append(match[0])
            end = at
    yield _parse_mailbox(words, bare, angle, comment)


def _parse_mailbox(words: list[str], bare: Iterable[list[str]], angle: str, comment: str) -> tuple[str, str]:
    """Return name and address. Without angle brackets the address is the only word that is one; "" if there is none, or several.

    bare: the pieces of each word as they were written, with their quotes.
    """
    if angle:
        return " ".join(words), angle
    tokens = _join_at_signs("".join(pieces) for pieces in bare)
    found = [at for at, each in enumerate(tokens) if each.count("@") == 1 and each[0] != "@"]
    if len(found) != 1 or "@" in "".join(tokens[: found[0]] + tokens[found[0] + 1 :]) or (found[0] and tokens[found[0] - 1].endswith(".")):
        return comment, ""
    address = tokens.pop(found[0])
    return comment or " ".join(each.replace('"', "") for each in tokens), address


def _join_at_signs(tokens: Iterable[str]) -> list[str]:
    """Join `a @ b`, which the obsolete syntax allows (RFC 5322, 4.4), into one token."""
    made = list[list[str]]()
    for each in tokens:
        if made and (each.startswith("@") or made[-1][-1].endswith("@")):
            made[-1].append(each)
        else:
            made.append([each])
    return ["".join(pieces) for pieces in made]


def _skip_comment(value: str, at: int) -> int:
    """Return the end of the comment that began before `at`. Comments nest; one that is not closed ends with the value."""
    depth = 1
    for match in IN_COMMENT.finditer(value, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(value)
