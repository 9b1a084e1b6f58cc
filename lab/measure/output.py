"""Output format of the measuring programs: one JSON object on a line."""

import json
from typing import NamedTuple

READY = json.dumps({"ready": True}) + "\n"


def report_ready() -> None:
    print(READY, end="", flush=True)


def report(result: NamedTuple) -> None:
    print(json.dumps(to_dict(result)), flush=True)


def to_dict(result: NamedTuple) -> dict[str, object]:
    """Return the report as a dictionary; json would encode a named tuple as a list, without the names."""
    return {name: to_dict(value) if hasattr(value, "_asdict") else value for name, value in result._asdict().items()}
