"""Put each fault into a copy of the code, one at a time, and check that its test fails.

Exits with 1 if a fault is not caught, or if a test fails without one.
"""

import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from pytest import ExitCode

from tests.mutants.faults import MUTANTS
from tests.mutants.mutant import ROOT, Mutant

SECONDS = 180


def main(arguments: list[str]) -> int:
    """Run the mutants with these words in their names, or all."""
    parser = ArgumentParser(prog="script/test --mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only mutants with this in their name")
    asked = parser.parse_args(arguments).names
    chosen = [each for each in MUTANTS if not asked or any(name in each.name for name in asked)]
    if not chosen:
        parser.error(f"no mutant is called {' or '.join(asked)}")
    with copy() as tree:
        return run(chosen, tree)


@contextmanager
def copy() -> Iterator[Path]:
    """Copy the working tree's files that git tracks or would add into a temporary directory."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    with TemporaryDirectory(prefix="mutants-") as directory:
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (Path(directory) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, Path(directory) / name)
        yield Path(directory)


def run(mutants: list[Mutant], tree: Path) -> int:
    """Run all mutants; return the exit status."""
    tests = sorted({mutant.seen_by for mutant in mutants})
    say(f"{len(tests)} tests without a fault …")
    code, output = pytest(tree, tests, "--create-db", seconds=SECONDS * len(tests))
    if code:
        say(output, f"These tests must pass before they can see anything (pytest ended with {code}).")
        return 1
    alive = [mutant for number, mutant in enumerate(mutants, 1) if not _is_caught(mutant, tree, f"{number}/{len(mutants)}")]
    say(f"\n{len(mutants)} faults, {len(mutants) - len(alive)} seen")
    for mutant in alive:
        say(f"ALIVE: {mutant.name} ({mutant.file}), not seen by {mutant.seen_by}")
    return int(bool(alive))


def say(*lines: str) -> None:
    """Print lines at once."""
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _is_caught(mutant: Mutant, tree: Path, number: str) -> bool:
    began = monotonic()
    text = mutant.apply(tree)
    try:
        code, output = pytest(tree, [mutant.seen_by])
    finally:
        mutant.undo(tree, text)
    seen = code == ExitCode.TESTS_FAILED and " failed" in output.strip().rpartition("\n")[2]  # an error in a fixture catches nothing
    say(f"{number:>6}  {'seen ' if seen else 'ALIVE'}  {monotonic() - began:5.1f} s  {mutant.name}")
    if not seen and code:
        say(output)
    return seen


def pytest(tree: Path, tests: Iterable[str], *options: str, seconds: int = SECONDS) -> tuple[int, str]:
    """Run these tests in the copy; return pytest's exit status and output."""
    usual = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "--full", "--reuse-db"]
    command = [sys.executable, "-m", "pytest", *usual, *options, *tests]
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return ExitCode.INTERRUPTED, f"no end within {seconds} s"  # a test that hangs catches nothing
    return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
