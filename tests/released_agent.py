"""Sources of the last released agent, and of the portal's side of its protocol, out of this repository's history.

Neighbouring releases must work together. `tests/data/wire/released-commit` names the commit; each release writes it anew.
"""

import io
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMIT_FILE = ROOT / "tests" / "data" / "wire" / "released-commit"
NEEDED = ("firewall", "gateway", "tests/__init__.py", "tests/agent")


def read_commit() -> str:
    """Return the id of the released commit."""
    return COMMIT_FILE.read_text().strip()


def why_no_history() -> str:
    """Return the reason why the commit cannot be read here; "" if it can."""
    command = ["git", "cat-file", "-e", f"{read_commit()}^{{commit}}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    return f"commit {read_commit()[:12]}, the last release, cannot be read; a shallow clone needs the whole history ({done.stderr.strip()})"


def extract_released_sources(directory: Path) -> Path:
    """Write the sources into the directory, and return it."""
    archive = subprocess.run(["git", "archive", read_commit(), *NEEDED], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(directory, filter="data")
    return directory
