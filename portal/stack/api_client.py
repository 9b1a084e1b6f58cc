"""A small client of the portal's REST API, for testing a running portal from outside."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from portal.stack.errors import StackError

type Json = Any


@dataclass(frozen=True)
class ApiClient:
    """Client for one address (http://HOST:PORT). Each call waits at most `timeout` seconds."""

    address: str
    token: str
    timeout: float = 60.0

    def get(self, path: str, **parameters: str | int) -> Json:
        return self._call("GET", f"{path}?{urlencode(parameters)}" if parameters else path)

    def list_rows(self, path: str, **parameters: str | int) -> list[Json]:
        """Return the first page of a list."""
        rows: list[Json] = self.get(path, **parameters)["results"]
        return rows

    def post(self, path: str, **values: object) -> Json:
        return self._call("POST", path, values)

    def delete(self, path: str) -> None:
        self._call("DELETE", path)

    def _call(self, method: str, path: str, values: Mapping[str, object] | None = None) -> Json:
        request = urllib.request.Request(f"{self.address}{path}", method=method)  # noqa: S310 — the address is our own
        request.add_header("Authorization", f"Bearer {self.token}")
        if values is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(values).encode()
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:  # noqa: S310
                text = answer.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as refused:
            raise StackError(
                f"{method} {path} was answered with {refused.code}: {refused.read(2000).decode(errors='replace')}"
            ) from refused
        except (OSError, ValueError) as wrong:
            raise StackError(f"{method} {path} failed: {wrong}") from wrong
