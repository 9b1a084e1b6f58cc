"""Reads our own receiving mail server's verdict on a sender (Authentication-Results, RFC 8601). Pure.

Only the topmost field with our server's name (authserv-id) counts: servers add theirs above those that a sender brought. The server must
also remove fields that pretend to be its own (RFC 8601, 5), as docs/mail.md asks.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from apps.inbound_mail.charsets import collapse_lines
from apps.lib.email_address import lower_ascii

PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\\.|[()"\\;]|[^()"\\;]+', re.DOTALL)
EQUALS: Final = re.compile(r"\s*=\s*")
LONGEST: Final = 10_000  # characters of a field that are read


def is_sender_authenticated(fields: Sequence[str], authserv_id: str, address: str) -> bool:
    """Whether our server says that the domain of `address` sent the mail: DMARC passed, or a DKIM signature of that domain did, and DMARC
    did not fail.

    fields: the values of all Authentication-Results, the topmost first. authserv_id: our server's name; if "", the answer is False.
    """
    domain = lower_ascii(address.rpartition("@")[2])
    ours = lower_ascii(authserv_id.strip())
    if not ours or not domain:
        return False
    named = (list(_iter_statements(each)) for each in fields)
    found = next((rest for first, *rest in named if lower_ascii(first.partition(" ")[0]) == ours), [])
    results = [_parse_result(each) for each in found]
    if any(method == "dmarc" and result == "fail" for method, result, _facts in results):
        return False
    return any(result == "pass" and _is_aligned(method, facts, domain) for method, result, facts in results)


def _iter_statements(field: str) -> Iterator[str]:
    """Yield the parts between semicolons, without comments: first the server's name, then the results."""
    depth, gathered = 0, list[str]()
    for piece in PIECE.findall(collapse_lines(field, LONGEST)):
        if piece in ("(", ")"):
            depth = depth + 1 if piece == "(" else max(depth - 1, 0)
        elif not depth and piece == ";":
            yield "".join(gathered).strip()
            gathered = []
        elif not depth:
            gathered.append(piece)
    yield "".join(gathered).strip()


def _parse_result(statement: str) -> tuple[str, str, dict[str, str]]:
    """Return method, result and properties of `dkim=pass header.d=example.org`, in lower case."""
    first, *others = EQUALS.sub("=", lower_ascii(statement)).split() or [""]
    method, _equals, result = first.partition("=")
    facts = {name: value.strip('"') for name, _sign, value in (each.partition("=") for each in others)}
    return method.partition("/")[0], result, facts


def _is_aligned(method: str, facts: dict[str, str], domain: str) -> bool:
    """Whether the result is about the domain in From. A signature of a parent domain counts, because that domain governs it."""
    if method == "dmarc":
        return facts.get("header.from", "").rstrip(".") == domain
    signer = (facts.get("header.d") or facts.get("header.i", "").rpartition("@")[2]).rstrip(".")
    return method == "dkim" and bool(signer) and (domain == signer or ("." in signer and domain.endswith(f".{signer}")))
