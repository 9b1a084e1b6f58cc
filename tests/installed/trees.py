"""Bare Debians to be installed on, and a later release to be upgraded to."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

GATEWAY_SUITES: Final[Mapping[str, str]] = {"nat-1": "bookworm", "nat-2": "trixie"}
LATER: Final = "0.1.0+99990101.000000.00000000"  # a version after every other


@dataclass(frozen=True)
class Trees:
    """A tree for each of our machines in `directory`, by name; later: a package of the portal of a later release, with a later agent."""

    directory: Path
    later: Path

    def copy(self, name: str) -> Path:
        """Return a copy of the tree with this name, for a machine of its own."""
        copied = next(path for number in count() if not (path := self.directory / f"{name}-{number}").exists())
        subprocess.run(["cp", "--archive", "--reflink=auto", str(self.directory / name), str(copied)], check=True)
        return copied


def build_later_release(package: Path, work: Path) -> Path:
    """Return the package with a higher version, and with an agent that differs in a comment."""
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(work)], check=True)
    control, agent = work / "DEBIAN/control", work / "opt/netzwart/code/gateway/__init__.py"
    [version] = [line for line in control.read_text().splitlines() if line.startswith("Version: ")]
    control.write_text(control.read_text().replace(version, f"Version: {LATER}"))
    agent.write_text(f"{agent.read_text()}# of a later release\n")
    later = work.with_name(f"netzwart_{LATER}_amd64.deb")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(work), str(later)], check=True, stdout=subprocess.DEVNULL)
    return later
