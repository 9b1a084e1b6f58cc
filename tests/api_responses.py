"""Reads error responses of the REST API."""

from typing import Any


def wrong(answer: Any) -> dict[str, list[str]]:
    """Return the error texts of a problem response (RFC 9457) by field or parameter; "" for the whole request."""
    said = answer.json()
    assert answer["Content-Type"] == "application/problem+json", answer["Content-Type"]
    assert said["status"] == answer.status_code
    assert said["type"].startswith("/api/docs/#") and said["title"] and said["detail"], said
    found: dict[str, list[str]] = {}
    for each in said.get("errors", []):
        found.setdefault(each.get("field") or each.get("parameter", ""), []).append(each["detail"])
    return found or {"": [said["detail"]]}
