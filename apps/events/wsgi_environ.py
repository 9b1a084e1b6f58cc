"""Converts an ASGI scope into a WSGI environment (PEP 3333). Pure."""

from collections.abc import Iterable
from io import StringIO
from typing import IO, Any

type Headers = Iterable[tuple[bytes, bytes]]


def build_variables(headers: Headers) -> dict[str, str]:
    """Return the headers as HTTP_… variables.

    Repeated fields are joined by commas, cookies by semicolons (RFC 9113, section 8.2.3). Names with an underscore are left out:
    as a variable they would look like the same name with a hyphen, which a proxy may have set.
    """
    told: dict[str, str] = {}
    for name, value in headers:
        if b"_" in name:
            continue
        key, text = "HTTP_" + name.decode("latin-1").upper().replace("-", "_"), value.decode("latin-1")
        told[key] = (("; " if key == "HTTP_COOKIE" else ",").join((told[key], text))) if key in told else text
    return told


def build_environ(scope: Any, body: IO[bytes], length: int) -> dict[str, Any]:
    """Return the WSGI environment of a request with a complete body of `length` octets."""
    host, port = scope.get("server") or ("", 80)
    told = build_variables(scope["headers"])
    return told | {
        "REQUEST_METHOD": scope["method"], "SCRIPT_NAME": "", "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"), "SERVER_NAME": host, "SERVER_PORT": str(port or 80),
        "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": (scope.get("client") or ("",))[0], "CONTENT_LENGTH": str(length),
        "CONTENT_TYPE": told.get("HTTP_CONTENT_TYPE", ""),
        "wsgi.version": (1, 0), "wsgi.url_scheme": scope.get("scheme", "http"), "wsgi.input": body,
        "wsgi.errors": StringIO(), "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False,
    }  # fmt: skip
