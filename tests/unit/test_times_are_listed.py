"""Every fixed time that affects a change must be listed in docs/timing.md, with its effect on a slow machine."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.programs import ROOT

PAGE = ROOT / "docs" / "timing.md"
PACKAGES = ("apps/deployments", "apps/gateways/agent_upgrade", "apps/gateways/roles", "gateway", "workers", "portal")
UNITS = re.compile(r"\b(milliseconds?|seconds?|minutes?|hours?)\b")
WRITTEN = re.compile(rf"\d+ {UNITS.pattern}")  # as PostgreSQL reads an interval
NAMES = re.compile(r"seconds|timeout|patience|within|lease|interval|_ms$|minutes", re.IGNORECASE)
WAITS = frozenset({"sleep", "settimeout", "wait", "wait_for", "call_later", "result", "stop"})
ROW = re.compile(
    r"^\| `(?P<path>[a-z_/]+\.py)` `(?P<name>[^`]+)` \| `(?P<value>[^`]+)` \| (?P<limits>[^|]+) \| (?P<slow>[^|]+) \|$", re.MULTILINE
)

type Time = tuple[str, str, str]  # path, name, value


def times(path: Path, text: str) -> Iterator[Time]:
    """Yield constants of modules and classes that are times, and literal times in arguments of calls."""
    where, lines, tree = str(path), text.splitlines(), ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            yield from ((where, name, value) for each in node.body for name, value in _constant(each, lines))
        elif isinstance(node, ast.Call):
            yield from ((where, name, value) for name, value in _iter_given(node))


def _constant(node: ast.stmt, lines: list[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    comment = " ".join(line.partition("#")[2] for line in lines[node.lineno - 1 : node.end_lineno])
    for target in targets:
        if isinstance(target, ast.Name) and _numbers(node.value):
            source = ast.unparse(node.value)
            named = NAMES.search(target.id) or (isinstance(node.value, ast.Dict) and NAMES.search(source))
            if "timedelta(" in source or UNITS.search(comment) or WRITTEN.search(source) or named:
                yield target.id, source


def _numbers(value: ast.expr) -> bool:
    """Return whether the value contains a number, perhaps as the default of an environment variable."""
    constants = [node.value for node in ast.walk(value) if isinstance(node, ast.Constant)]
    numbers = re.compile(rf"[\d.]*[1-9][\d.]*|{WRITTEN.pattern}")
    return any(not isinstance(each, bool) and numbers.fullmatch(str(each)) for each in constants)


def _iter_given(call: ast.Call) -> Iterator[tuple[str, str]]:
    name = ast.unparse(call.func).rpartition(".")[2]
    positional = [each for each in call.args if name in WAITS]
    named = [each.value for each in call.keywords if each.arg and NAMES.search(each.arg) and name != "timedelta"]
    for each in [*positional, *named]:
        if isinstance(each, ast.Constant) and isinstance(each.value, int | float) and each.value:
            yield f"{name}()", ast.unparse(each)


def find_times() -> set[Time]:
    files = (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))
    return {each for file in files for each in times(file.relative_to(ROOT), file.read_text())}


def read_listed() -> set[Time]:
    return {(row["path"], row["name"], row["value"]) for row in ROW.finditer(PAGE.read_text())}


def test_every_time_is_listed_with_its_value() -> None:
    missing = sorted(find_times() - read_listed())
    assert not missing, "say in docs/timing.md what these do on a machine ten times slower:\n" + "\n".join(map(str, missing))


def test_nothing_is_listed_that_is_not_there() -> None:
    assert sorted(read_listed() - find_times()) == []


def test_every_row_of_the_table_can_be_read() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert len(rows) == len(read_listed()) > 30


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("PATIENCE = 3", ("PATIENCE", "3")),
        ("PAUSE = 0.5  # seconds between two looks", ("PAUSE", "0.5")),
        ("LEASE = timedelta(seconds=10)", ("LEASE", "timedelta(seconds=10)")),
        ("BROKER = {'visibility_timeout': 15}", ("BROKER", "{'visibility_timeout': 15}")),
        ("class A:\n    timeout: float = 10.0", ("timeout", "10.0")),
        ("TICK_SECONDS = float(os.environ.get('TICK', '30'))", ("TICK_SECONDS", "float(os.environ.get('TICK', '30'))")),
        ("LONGEST = (\n    3600.0  # seconds until an answer\n)", ("LONGEST", "3600.0")),
        ("KEPT = '1 hour'", ("KEPT", "'1 hour'")),
        ("RECENT: Final = '15 seconds'", ("RECENT", "'15 seconds'")),
        ("def f():\n    time.sleep(0.2)", ("sleep()", "0.2")),
        ("def f():\n    run(command, timeout=5)", ("run()", "5")),
        ("SIZE = 3  # of a set", None),
        ("TEXT = 'no answer within seconds'", None),
        ("def f():\n    run(command, timeout=LIMIT)", None),
    ],
)
def test_a_new_time_would_be_seen(text: str, seen: tuple[str, str] | None) -> None:
    assert list(times(Path("x.py"), text)) == ([("x.py", *seen)] if seen else [])
