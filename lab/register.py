"""Register of detached labs: one file per name in a state directory.

A registered lab may have ended; its process id with the start time shows that.
"""

import fcntl
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.lab import Lab
from lab.process import ProcessRef
from lab.topology import parse_topology

LEGAL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class LabRegisterEntry:
    """The entry of one name in one directory. Hold `lock()` from reading the entry until it is changed."""

    directory: Path
    name: str

    def __post_init__(self) -> None:
        if not LEGAL_NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is not a name for a lab: use letters, digits, hyphens and underscores")

    @property
    def path(self) -> Path:
        return self.directory / f"{self.name}.json"

    @contextmanager
    def lock(self) -> Iterator[None]:
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / f"{self.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def find(self) -> Lab | None:
        """Return the running lab of this name, or None."""
        try:
            entry = json.loads(self.path.read_text())
        except FileNotFoundError:
            return None
        holder = ProcessRef(entry["pid"], entry["started"])
        return Lab(parse_topology(entry["topology"]), holder, tuple(entry["shortfalls"])) if holder.is_alive else None

    def write(self, lab: Lab, topology: str) -> None:
        """Write the entry. `topology` is the text that the lab was built from; its file may change while the lab runs."""
        entry = {"pid": lab.holder.pid, "started": lab.holder.started, "shortfalls": lab.shortfalls, "topology": topology}
        draft = self.path.with_suffix(".new")
        draft.write_text(json.dumps(entry))
        draft.replace(self.path)

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)
