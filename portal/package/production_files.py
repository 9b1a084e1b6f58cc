"""What of this checkout runs in production, as data: whatever installs the portal takes these files and no others.

In: the checkout. Out: paths relative to it. Tests, the demo (`portal/stack`, `lab`) and what builds packages are left out.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCTION: Final = (
    "LICENSE",
    "apps",
    "docs/runbook.md",  # a part of the emergency sheet
    "firewall",
    "gateway",  # workers import parts of it, and the portal builds the agent's package from it
    "locale",
    "manage.py",
    "migrations",
    "portal",
    "pyproject.toml",  # the release, which a backup notes
    "requirements-production.lock",  # whose migrations migrations/schema.sql holds; nothing is installed from it
    "static",
    "templates",
    "workers",
)
"""Files and folders at the root of the checkout."""
LEFT_OUT: Final = ("portal/debian", "portal/package", "portal/stack", "portal/systemd")
"""Folders below those that nothing imports in production."""
LOCKS: Final = ("requirements-production.lock", "requirements-tracing.lock")
"""Packages that are installed beside them: tracing cannot be added to a package later."""
MADE: Final = frozenset({".mo", ".pyc"})
"""Suffixes of files that are made from others, anew for each installation."""


def list_production_files(root: Path = ROOT) -> list[str]:
    """Return the paths of all files that run, relative to the root, sorted."""
    return sorted(path for entry in PRODUCTION for path in _iter_files(root, root / entry) if _runs(path))


def _iter_files(root: Path, entry: Path) -> Iterator[str]:
    files = [entry] if entry.is_file() else (file for file in entry.rglob("*") if file.is_file())
    for file in files:
        yield file.relative_to(root).as_posix()


def _runs(path: str) -> bool:
    parts = path.split("/")
    made = "__pycache__" in parts or Path(path).suffix in MADE
    hidden = any(part.startswith(".") for part in parts)  # such as an editor's swap file
    return not made and not hidden and not any(path.startswith(f"{folder}/") for folder in LEFT_OUT)
