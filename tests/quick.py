"""Chooses the tests that a change of a few lines needs first: `python -m tests.quick` prints their files, the closest first.

Changed are the files that differ from the last commit; if none do, those of the last commit itself. Of the unit and database tests, a
test is close to a changed file if it has its name (`test_pages_members` and `members`) or imports it, less so if it imports one that does.
Further tests wait for a whole run.
"""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import grimp

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("portal", "workers", "apps", "gateway", "lab", "firewall", "tests")
REPORT: Final = ROOT / "var" / "test" / "reports" / "fast.xml"
BUDGET: Final = 60.0  # seconds of tests on one processor, so that two take half of it
UNKNOWN: Final = 8.0  # seconds of a file that no report tells about
EVERYWHERE: Final = ("init", "api", "apps", "forms", "models", "selectors", "services", "urls", "views")
OF_TEXTS: Final = {
    "docs": ("tests/unit/test_docs.py",),
    "locale": ("tests/unit/test_catalog.py", "tests/db/test_languages.py"),
    "templates": ("tests/unit/test_markup.py", "tests/unit/test_catalog.py", "tests/db/test_languages.py"),
}


def list_changed() -> list[str]:
    """Return the paths of changed files, relative to the root."""
    changed = [*_run_git("diff", "--name-only", "HEAD"), *_run_git("ls-files", "--others", "--exclude-standard")]
    return changed or _run_git("diff", "--name-only", "HEAD~1", "HEAD")


def _run_git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1]


@cache
def build_graph() -> grimp.ImportGraph:
    """Return which module imports which, tests included."""
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def get_module(path: str) -> str:
    """Return the dotted name of a Python file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def rank_tests(changed: Iterable[str]) -> dict[str, int]:
    """Return the files of unit and database tests by their distance from the changed files, from 0 on."""
    graph, found = build_graph(), dict[str, int]()
    for path in changed:
        found |= dict.fromkeys([*_list_namesakes(path), *OF_TEXTS.get(path.partition("/")[0], ())], 0)
        if path.endswith(".py") and get_module(path) in graph.modules:
            for distance, module in _iter_importers(graph, get_module(path)):
                if _is_quick_test(module):
                    name = f"{module.replace('.', '/')}.py"
                    found[name] = min(distance, found.get(name, distance))
    return found


def _list_namesakes(path: str) -> list[str]:
    """Return the tests with the file's name in theirs, or its folder's name if each app has such a file."""
    stem, folder = Path(path).stem.strip("_"), Path(path).parent.name
    name = folder if stem in EVERYWHERE else stem
    there = [*(ROOT / "tests" / "unit").glob(f"test_*{name}*.py"), *(ROOT / "tests" / "db").glob(f"test_*{name}*.py")]
    return [str(each.relative_to(ROOT)) for each in there]


def _iter_importers(graph: grimp.ImportGraph, module: str) -> Iterator[tuple[int, str]]:
    """Yield the module, those that import it, and those that import these, each with its distance."""
    seen, near = {module}, {module}
    for distance in range(3):
        yield from ((distance, each) for each in near)
        near = {each for of in near for each in graph.find_modules_that_directly_import(of)} - seen
        seen |= near


def _is_quick_test(module: str) -> bool:
    return module.startswith(("tests.unit.test_", "tests.db.test_"))


def choose(ranked: dict[str, int], seconds: dict[str, float]) -> Iterator[str]:
    """Yield the closest files, the most specific of equal distance first, until the budget is spent; at least one."""
    spent = 0.0
    for name in sorted(ranked, key=lambda name: (ranked[name], _count_imports(name), name)):
        spent += seconds.get(name, UNKNOWN)
        if spent > BUDGET and spent > seconds.get(name, UNKNOWN):
            return
        yield name


def _count_imports(name: str) -> int:
    """Return how many modules a test imports: the fewer, the more of it is about each."""
    return sum(isinstance(node, ast.ImportFrom | ast.Import) for node in ast.walk(ast.parse((ROOT / name).read_text())))


def read_seconds() -> dict[str, float]:
    """Return how long each file of tests took in the last whole run; empty if there was none here."""
    found = dict[str, float]()
    if REPORT.exists():
        for case in ElementTree.parse(REPORT).iter("testcase"):  # noqa: S314 - our own report
            name = f"{case.get('classname', '').replace('.', '/')}.py"
            found[name] = found.get(name, 0.0) + float(case.get("time", 0))
    return found


if __name__ == "__main__":
    found_tests = rank_tests(list_changed())
    chosen = list(choose(found_tests, read_seconds()))
    sys.stdout.writelines(f"{name}\n" for name in chosen)
    sys.stderr.write(f"{len(chosen)} of {len(found_tests)} files of tests that are close to the change\n")
