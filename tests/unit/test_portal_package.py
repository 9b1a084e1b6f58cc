"""The portal's Debian package: what is in it, its settings file, its units, and its maintainer scripts."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands

from apps.lib.database.schema_snapshot import compute_fingerprint
from apps.status.publication.emergency_sheet import RUNBOOK
from portal.package.environment_file import CONTAINERS, PACKAGE, SECRET_KEY, render_environment
from portal.package.portal_package import NAME, SCRIPTS, compute_version, fill_control, list_package_files
from portal.package.production_files import LEFT_OUT, LOCKS, PRODUCTION, ROOT, list_production_files
from portal.programs import list_programs

EPOCH = 1_795_898_256  # 28 November 2026
UNITS = ROOT / "portal" / "systemd"
DEBIAN = ROOT / "portal" / "debian"
SETTINGS = (ROOT / "docs" / "settings.md").read_text()
STATE = Path("/var/lib/netzwart")
PROGRAMS = {
    "web": "web",
    "events": "events",
    "worker": "worker",
    "collector": "collector",
    "mailer": "mailer",
    "feeds": "feeds",
    "ticker": "beat",
}
"""Names of units, with the program of each."""


def load_command() -> Any:
    """Return the module of the command netzwart, whose file has no suffix."""
    loader = SourceFileLoader("netzwart_command", str(DEBIAN / NAME))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


COMMAND = load_command()


def read_unit(name: str, key: str) -> str:
    found = re.search(rf"^{key}=(.*)$", (UNITS / f"netzwart-{name}.service").read_text(), re.MULTILINE)
    assert found, f"{name} has no {key}"
    return found[1]


def iter_imports(path: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_every_module_that_production_imports_is_in_the_package() -> None:
    listed = set(list_production_files())
    lost = set()
    for path in listed:
        for module in iter_imports(path) if path.endswith(".py") else ():
            file = module.replace(".", "/")
            for each in (f"{file}.py", f"{file}/__init__.py"):
                if (ROOT / each).exists() and each not in listed:
                    lost.add(f"{path}: {module}")
    assert lost == set()


def test_no_test_no_demo_and_nothing_that_builds_packages_is_in_it() -> None:
    listed = list_production_files()
    assert len(listed) > 1000 and "manage.py" in listed and "templates/base.html" in listed
    folders = ("tests/", "lab/", "benchmarks/", "docs/", "script/", *(f"{each}/" for each in LEFT_OUT))
    assert [path for path in listed if path.startswith(folders) or path.endswith((".pyc", ".mo"))] == ["docs/runbook.md"]
    assert RUNBOOK == ROOT / "docs/runbook.md"


def test_all_that_is_listed_exists() -> None:
    assert [path for path in (*PRODUCTION, *LEFT_OUT, *LOCKS) if not (ROOT / path).exists()] == []


def test_migrating_finds_there_what_marks_a_database_as_current(tmp_path: Path) -> None:
    for path in list_production_files():
        if path.startswith("migrations/") or "/" not in path:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).symlink_to(ROOT / path)
    assert compute_fingerprint(tmp_path) == compute_fingerprint()


def test_the_settings_file_holds_every_setting_and_no_other() -> None:
    named = re.findall(r"^#?(NETZWART_\w+)=", render_environment(SETTINGS), re.MULTILINE)
    assert named == re.findall(r"^\| `(NETZWART_\w+)`", SETTINGS.partition("## Environment")[2], re.MULTILINE)


def test_the_settings_file_sets_only_what_the_package_chooses() -> None:
    assert COMMAND.parse(render_environment(SETTINGS)) == PACKAGE.chosen
    assert PACKAGE.chosen[SECRET_KEY] == "", "each installation makes its own"


def test_each_default_of_the_settings_file_can_be_set_by_taking_the_comment_sign_away() -> None:
    text = re.sub(r"^#(?=NETZWART_)", "", render_environment(SETTINGS), flags=re.MULTILINE)
    values = COMMAND.parse(text)
    assert values["NETZWART_SSH_KEY"] == "/var/lib/netzwart/ssh/id_ed25519"
    assert values["NETZWART_COLLECT_SECONDS"] == "60"
    assert "NETZWART_" not in "".join(values.values())


def test_the_example_for_containers_holds_every_setting() -> None:
    written = (ROOT / ".env.example").read_text()
    assert written == render_environment(SETTINGS, CONTAINERS), "python -m portal.package.environment_file > .env.example"
    assert COMMAND.parse(written) == CONTAINERS.chosen


def test_a_page_without_settings_is_refused() -> None:
    with pytest.raises(ValueError, match="no table"):
        render_environment("# Settings\n")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=plain", "plain"),
        ("A=", ""),
        ("A=host=/run/postgresql", "host=/run/postgresql"),
        ('A="host=/run/postgresql dbname=netzwart"', "host=/run/postgresql dbname=netzwart"),
        (r'A="a \"quoted\" \\ \$5"', r'a "quoted" \ $5'),
        ("A='$literal'", "$literal"),
        ("  A=spaces around  ", "spaces around"),
    ],
)
def test_the_command_reads_a_line_as_systemd_does(line: str, value: str) -> None:
    assert COMMAND.parse(f"# comment\n; comment\n\n{line}\n") == {"A": value}


@pytest.mark.parametrize("line", ["export A=1", "A", 'A="open', "A=it's", r"A=a\ b", 'A="a"b', "A = 1"])
def test_the_command_names_the_line_that_can_be_read_in_two_ways(line: str) -> None:
    with pytest.raises(ValueError, match="2"):
        COMMAND.parse(f"B=1\n{line}\n")


def test_a_later_commit_is_a_higher_version() -> None:
    earlier, later = compute_version(EPOCH), compute_version(EPOCH + 1)
    assert re.fullmatch(r"\d+\.\d+\.\d+\+20261128\.\d{6}\.[0-9a-f]{8}", earlier)
    assert subprocess.run(["dpkg", "--compare-versions", later, "gt", earlier], check=False).returncode == 0


def test_the_control_file_names_the_python_that_it_was_built_for() -> None:
    control = fill_control("1.0", "arm64", "trixie", 12)
    assert "python3 (>= 3.13), python3 (<< 3.14)" in control and "@" not in control.replace("@localhost", "")
    fields = dict(line.split(": ", 1) for line in control.splitlines() if not line.startswith(" "))
    assert (fields["Package"], fields["Version"], fields["Architecture"], fields["Installed-Size"]) == (NAME, "1.0", "arm64", "12")
    assert fields["Conflicts"] == "netzwart-agent", "both would use the account netzwart and /etc/netzwart"


def test_its_other_files_are_the_same_bytes_each_time_and_below_usr() -> None:
    files = list_package_files("1.0", EPOCH)
    assert files == list_package_files("1.0", EPOCH)
    assert [file.path for file in files if not file.path.startswith("usr/")] == []
    assert [file.path for file in files if file.mode & 0o111] == ["usr/bin/netzwart"]


def test_each_unit_is_installed_enabled_and_purged() -> None:
    installed = {
        Path(file.path).name
        for file in list_package_files("1.0", EPOCH)
        if file.path.endswith((".service", ".socket", ".timer", ".target"))
    }
    assert installed == {f"netzwart-{each}.service" for each in (*PROGRAMS, "backup")} | {
        "netzwart.target",
        "netzwart-web.socket",
        "netzwart-backup.timer",
    }
    for script in ("prerm", "postinst", "postrm"):
        named = set(re.findall(r"netzwart[\w-]*\.(?:service|socket|timer|target)", (DEBIAN / script).read_text()))
        assert named == installed - {"netzwart-backup.service"}, script


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_unit_becomes_a_program_of_the_portal(name: str) -> None:
    assert read_unit(name, "ExecStart") == f"/opt/netzwart/venv/bin/python -m portal.programs {PROGRAMS[name]}"


def test_each_program_of_the_portal_has_a_unit() -> None:
    assert set(PROGRAMS.values()) == set(list_programs(STATE))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_unit_starts_with_the_target_is_started_again_and_ends_its_children_last(name: str) -> None:
    assert read_unit(name, "PartOf") == read_unit(name, "WantedBy") == "netzwart.target"
    assert (read_unit(name, "Restart"), read_unit(name, "KillMode"), read_unit(name, "ProtectSystem")) == ("always", "mixed", "strict")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_time_for_stopping_is_documented_and_longer_than_the_programs_own(name: str) -> None:
    seconds = read_unit(name, "TimeoutStopSec")
    assert f"| unit `netzwart-{name}.service` | `{seconds}` |" in (ROOT / "docs" / "timing.md").read_text()
    own = re.search(r"--(?:graceful-timeout|timeout-graceful-shutdown) (\d+)", " ".join(list_programs(STATE)[PROGRAMS[name]]()))
    assert own is None or int(own[1]) < int(seconds)


def test_all_units_share_one_sandbox() -> None:
    sandbox = (UNITS / "netzwart-.service.d" / "sandbox.conf").read_text()
    for line in ("User=netzwart", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "SystemCallFilter=@system-service"):
        assert f"\n{line}\n" in sandbox
    lines = {line for unit in UNITS.glob("*.service") for line in unit.read_text().splitlines() if "=" in line}
    repeated = lines & set(sandbox.splitlines())
    assert repeated == set()


def test_the_example_for_caddy_is_the_one_of_the_page() -> None:
    assert f"```caddy\n{(DEBIAN / 'Caddyfile').read_text()}```" in (ROOT / "docs" / "live.md").read_text()


@pytest.mark.parametrize("name", [*SCRIPTS, "build"])
def test_its_scripts_stop_at_the_first_fault_and_parse(name: str) -> None:
    script = DEBIAN / name
    assert script.read_text().startswith("#!/bin/sh\n") and "\nset -e" in script.read_text()
    assert os.access(script, os.X_OK)
    subprocess.run(["sh", "-n", script], check=True)


def test_no_script_migrates_or_deletes_what_cannot_be_made_again() -> None:
    lines = [line.strip() for name in SCRIPTS for line in (DEBIAN / name).read_text().splitlines()]
    done = [line for line in lines if not line.startswith(("#", "echo"))]
    assert [line for line in done if "netzwart migrate" in line] == ["if netzwart migrate --check >/dev/null 2>&1; then"]
    assert [line for line in done if re.search(r"\brm\b|dropdb|userdel", line)] == [
        "rm -f /var/lib/netzwart/beat/schedule* /var/lib/systemd/timers/stamp-netzwart-backup.timer"
    ]


def test_every_command_that_pages_and_scripts_give_to_netzwart_exists() -> None:
    texts = [*(ROOT / "docs" / f"{page}.md" for page in ("install", "upgrade", "backup", "gateway-setup")), DEBIAN / "postinst"]
    named = {found for text in texts for found in re.findall(r"(?:^ *|`|&& )netzwart ([a-z_]+)", text.read_text(), re.MULTILINE)}
    assert {"migrate", "createsuperuser", "upgrade_check", "backup", "gateway"} <= named
    assert named - get_commands().keys() == set()


def test_debian_12_is_refused_with_the_reason() -> None:
    done = subprocess.run([sys.executable, ROOT / "script/build-deb", "--suite", "bookworm"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Debian 12, whose Python is 3.11" in done.stderr and "Run the portal on Debian 13" in done.stderr
