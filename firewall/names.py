"""Names and texts that may stand in a ruleset: valid for nft, and unable to break out of their quotes.

Interface names that are not plain are refused; comments are people's texts and are made harmless instead.
"""

import re
from functools import lru_cache

from firewall.policy import PolicyError

COMMENT_OCTETS = 120  # the kernel keeps 128 (NFTNL_UDATA_COMMENT_MAXLEN)

_INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,14}")  # IFNAMSIZ is 16 with the final zero
_SYMBOL = re.compile(r"[A-Za-z_.][A-Za-z0-9/_.-]{0,254}")  # as nft's scanner takes it; NFT_NAME_MAXLEN is 256 with the final zero
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f"\\\u2028\u2029\ud800-\udfff]')


def validate_interface(name: str) -> str:
    """Return the interface's name if it is plain; nft gives `*` and quotes in it a meaning of their own.

    Raises PolicyError otherwise.
    """
    if not _INTERFACE.fullmatch(name):
        raise PolicyError(f"interface {name!r}: use 1 to 15 of the characters A-Z a-z 0-9 _ . : @ -")
    return name


@lru_cache(maxsize=1 << 16)  # a feed gives thousands of bans the same comment
def sanitize_comment(text: str) -> str:
    """Return the text as it can stand between quotes in a ruleset: one line, no quote, no backslash, at most 120 octets of UTF-8."""
    harmless = " ".join(_UNSAFE.sub(" ", text.replace('"', "'")).split())
    octets = harmless.encode()
    if len(octets) <= COMMENT_OCTETS:
        return harmless
    return octets[: COMMENT_OCTETS - 3].decode(errors="ignore").rstrip() + "…"


def validate_symbol(text: str) -> str:
    """Return the text if it can be a name or constant of nft, from the compiler or made by hand. Raises PolicyError otherwise."""
    if not _SYMBOL.fullmatch(text):
        raise PolicyError(f"{text!r} is not a valid name: start with a letter, then use letters, 0-9 / _ . -")
    return text
