"""Header fields of an ASGI scope as the variables of a WSGI environment (PEP 3333). Pure."""

from collections.abc import Iterable

type Headers = Iterable[tuple[bytes, bytes]]


def variables(headers: Headers) -> dict[str, str]:
    """HTTP_… by name; a repeated field is one with commas, cookies with semicolons (RFC 9113, 8.2.3).

    A name with an underscore is left out: as a variable it would be the same as one with a hyphen, and pass for what a proxy wrote.
    """
    told: dict[str, str] = {}
    for name, value in headers:
        if b"_" in name:
            continue
        key, text = "HTTP_" + name.decode("latin-1").upper().replace("-", "_"), value.decode("latin-1")
        told[key] = (("; " if key == "HTTP_COOKIE" else ",").join((told[key], text))) if key in told else text
    return told
