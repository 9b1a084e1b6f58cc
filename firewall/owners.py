"""The owner that an element of a counted set counts for: a holding, so that the traffic of successive holders of an address never mixes.

In a ruleset the owner is the element's value, which no rule sees; in the kernel it is the element's comment. So an address that
changes hands is another element: the delta deletes one and adds the other in one transaction.
"""

WIDTH = 8  # octets
NOBODY = bytes(WIDTH)
_MARK = "holding  "  # no comment of people's has two spaces in a row (names.sanitize_comment)
_COMMENT = f"{_MARK}%012d"


def encode_holding_id(holding: int) -> bytes:
    """Return the element's value for the holding of this id."""
    return holding.to_bytes(WIDTH)


def decode_holding_id(owner: bytes) -> int:
    """Return the id of the holding; 0: none, or it is not known."""
    return int.from_bytes(owner)


def format_comment(owner: bytes) -> str:
    """Return the element's comment in the kernel. All comments have one width, so that many elements can be parsed at once."""
    return _COMMENT % int.from_bytes(owner)


def parse_owner(text: str) -> bytes:
    """Return the owner in an element's comment; b"" if it names none."""
    digits = text.removeprefix(_MARK)
    return encode_holding_id(int(digits)) if digits != text and digits.isascii() and digits.isdecimal() else b""
