"""What the measuring programs print: one JSON object on a line."""

import json
from typing import NamedTuple

READY = json.dumps({"ready": True}) + "\n"


def report_ready() -> None:
    print(READY, end="", flush=True)


def report(result: NamedTuple) -> None:
    print(json.dumps(to_dict(result)), flush=True)


def to_dict(result: NamedTuple) -> dict[str, object]:
    """The same as a dictionary; json would make a list of it, without the names."""
    return {name: to_dict(value) if hasattr(value, "_asdict") else value for name, value in result._asdict().items()}
