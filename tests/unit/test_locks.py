"""The lock files: production and traces are parts of what is tested, in the same versions, without tools for tests."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)((?: ; .*)?) \\$", re.MULTILINE)


def pins(name: str) -> dict[tuple[str, str], str]:
    return {(found[1], found[3]): found[2] for found in PIN.finditer((ROOT / name).read_text())}


def list_requirements(name: str) -> set[str]:
    lines = (ROOT / name).read_text().splitlines()
    return {re.split(r"[\[<>=]", line)[0].strip().lower() for line in lines if line and not line.startswith(("#", "-r"))}


def test_production_runs_what_is_tested() -> None:
    everything, production = pins("requirements.lock"), pins("requirements-production.lock")
    tested = {(package, version) for (package, _where), version in everything.items()}
    assert len(production) > 30
    assert {(package, version) for (package, _where), version in production.items()} <= tested


def test_both_locks_hold_what_is_asked_for_and_production_no_tool_of_tests() -> None:
    production = {package for package, _where in pins("requirements-production.lock")}
    assert list_requirements("requirements-production.in") <= production
    assert not list_requirements("requirements.in") & production


def test_traces_are_tested_in_the_versions_that_are_installed_and_no_other_installation_has_them() -> None:
    everything, traces, production = pins("requirements.lock"), pins("requirements-tracing.lock"), pins("requirements-production.lock")
    added = {(package, version) for (package, _where), version in traces.items()}
    assert added <= {(package, version) for (package, _where), version in everything.items()}
    assert list_requirements("requirements-tracing.in") <= {package for package, _version in added}
    assert not [package for package, _where in production if package.startswith(("opentelemetry", "protobuf"))]


def test_the_containers_install_the_lock_of_production() -> None:
    assert "--require-hashes -r requirements-production.lock" in (ROOT / "Dockerfile").read_text()
