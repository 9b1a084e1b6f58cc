"""Names and texts that may stand in a ruleset: legal for nft, and never a way out of their quotes.

Interface names are refused when they are not plain; comments are people's texts and are made harmless instead.
"""

import re
from functools import lru_cache

from firewall.policy import PolicyError

COMMENT_OCTETS = 120  # the kernel keeps 128 (NFTNL_UDATA_COMMENT_MAXLEN)

_INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,14}")  # IFNAMSIZ is 16 with its zero
_SYMBOL = re.compile(r"[A-Za-z_.][A-Za-z0-9/_.-]{0,254}")  # as nft's scanner takes it; NFT_NAME_MAXLEN is 256 with its zero
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f"\\\u2028\u2029\ud800-\udfff]')


def validate_interface(name: str) -> str:
    """The interface's name, if it is plain; nft reads `*` and quotes in it as its own.

    Raises PolicyError otherwise.
    """
    if not _INTERFACE.fullmatch(name):
        raise PolicyError(f"interface {name!r}: use 1 to 15 of the characters A-Z a-z 0-9 _ . : @ -")
    return name


@lru_cache(maxsize=1 << 16)  # feeds say the same of thousands
def sanitize_comment(text: str) -> str:
    """The text as it can stand between quotes in a ruleset: one line, no quote, no backslash, at most 120 octets of UTF-8."""
    harmless = " ".join(_UNSAFE.sub(" ", text.replace('"', "'")).split())
    octets = harmless.encode()
    if len(octets) <= COMMENT_OCTETS:
        return harmless
    return octets[: COMMENT_OCTETS - 3].decode(errors="ignore").rstrip() + "…"


def validate_symbol(text: str) -> str:
    """The text, if it can be a name or a constant of nft, ours or of somebody's hand. Raises PolicyError otherwise."""
    if not _SYMBOL.fullmatch(text):
        raise PolicyError(f"{text!r} is no name: use letters, then also 0-9 / _ . -")
    return text
