"""What the measuring programs print: one JSON object on a line."""

import json
from typing import NamedTuple

READY = json.dumps({"ready": True}) + "\n"


def ready() -> None:
    print(READY, end="", flush=True)


def report(result: NamedTuple) -> None:
    print(json.dumps(plain(result)), flush=True)


def plain(result: NamedTuple) -> dict[str, object]:
    """The same as a dictionary; json would make a list of it, without the names."""
    return {name: plain(value) if hasattr(value, "_asdict") else value for name, value in result._asdict().items()}
