"""netzwart-agent.pyz: builds are reproducible, and it runs on the system's Python, as an account with only one capability."""

import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

from firewall import wire
from gateway.release import compute_version
from tests.agent.client import Client
from tests.agent.gateways import clock
from tests.agent.rulesets import network, text_of, whole

ROOT = Path(__file__).parents[2]
PYTHON = "/usr/bin/python3"
AGENT, LOGIN, GROUP = "64010", "64011", "65534"
RIGHTS = ["--clear-groups", "--no-new-privs", "--regid", GROUP]
ONE_RIGHT = ["--inh-caps=-all,+net_admin", "--ambient-caps=-all,+net_admin", "--bounding-set=-all,+net_admin"]
NO_RIGHT = ["--inh-caps=-all", "--bounding-set=-all"]


def why_not() -> str:
    """Return the reason why the system's Python cannot run it; "" if it can."""
    if not Path(PYTHON).exists():
        return f"there is no {PYTHON}"
    tried = subprocess.run([PYTHON, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"], check=False)
    return f"{PYTHON} is older than 3.11" if tried.returncode else ""


@pytest.fixture(scope="module")
def bundle_directory() -> Iterator[Path]:
    """Build the agent with script/build-agent; yield the output directory, which every account may enter."""
    if reason := why_not():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="nw-") as directory:
        subprocess.run([PYTHON, ROOT / "script" / "build-agent", "--output", directory], check=True, capture_output=True)
        Path(directory).chmod(0o755)
        yield Path(directory)


UNITS = [
    "netzwart-agent.pyz",
    "netzwart-agent.service",
    f"netzwart-agent_{compute_version()}_all.deb",
    "netzwart-closed.service",
    "netzwart-failover-install.path",
    "netzwart-failover-install.service",
    "netzwart-failover.service",
    "netzwart-failover.timer",
    "netzwart-headers.socket",
    "netzwart-headers@.service",
    "netzwart-probe-namespace.service",
    "netzwart-prober.service",
    "netzwart-restore.service",
]


@contextmanager
def serving(built: Path, state: Path, *, before: list[str], more: list[str]) -> Iterator[Client]:
    """Run the agent of the bundle, and yield a client of it."""
    program = [*before, PYTHON, str(built / "netzwart-agent.pyz"), "serve", "--name", "gw1", *more]
    with Popen([*program, "--socket", str(state / "agent"), "--state", str(state / "state")], stderr=subprocess.PIPE, text=True) as agent:
        try:
            assert agent.stderr is not None
            assert any("listening at" in line for line in agent.stderr), "the agent ended"
            client = Client(state / "agent")
            yield client
            client.close()
        finally:
            agent.terminate()


def test_the_same_checkout_gives_the_same_bytes(bundle_directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    for part in ("firewall", "gateway", "script", "apps/gateways/agent_package"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([copy / "script" / "build-agent", "--output", tmp_path / "out"], check=True, capture_output=True)
    assert sorted(file.name for file in bundle_directory.iterdir()) == UNITS
    for file in bundle_directory.iterdir():
        assert file.read_bytes() == (tmp_path / "out" / file.name).read_bytes()


def test_it_serves_and_relays_without_the_checkout(bundle_directory: Path, tmp_path: Path) -> None:
    with serving(bundle_directory, tmp_path, before=[], more=["--fake"]):
        relay = [PYTHON, str(bundle_directory / "netzwart-agent.pyz"), "relay", "--socket", str(tmp_path / "agent")]
        request = b"".join(wire.iter_lines(7, wire.Hello(0)))
        done = subprocess.run(relay, input=request, capture_output=True, check=True, cwd="/", timeout=30)
    answer = wire.Assembler().feed(done.stdout)
    assert answer is not None
    assert isinstance(wire.parse_reply(answer[1]), wire.Welcome)


@pytest.mark.kernel
def test_the_check_of_the_bundled_agent_reports_what_the_machine_offers(bundle_directory: Path) -> None:
    done = subprocess.run(
        ["unshare", "--net", bundle_directory / "netzwart-agent.pyz", "check"], capture_output=True, text=True, check=True
    )
    assert "nftables: our table has 0 chains" in done.stdout


@pytest.mark.kernel
def test_an_account_with_one_right_loads_a_large_ruleset_and_restores_it(bundle_directory: Path) -> None:
    ruleset, now = network(20_000), clock()
    with tempfile.TemporaryDirectory(prefix="nw-") as directory:
        os.chown(directory, int(AGENT), int(GROUP))
        state = Path(directory)
        restricted = ["setpriv", "--reuid", AGENT, *RIGHTS, *ONE_RIGHT]
        with serving(bundle_directory, state, before=["unshare", "--net", *restricted], more=["--group", "nogroup"]) as client:
            applied = client.ask(whole(ruleset, token=1, now=now))
            assert isinstance(applied, wire.Applied), applied
            with closing(Client(state / "agent")) as anew:
                assert isinstance(anew.ask(wire.Confirm(1, text_of(ruleset, now))), wire.Confirmed)
        restore = [*restricted, PYTHON, str(bundle_directory / "netzwart-agent.pyz"), "restore", "--state", str(state / "state")]
        done = subprocess.run(["unshare", "--net", *restore], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert f"{ruleset.count_elements()} elements" in done.stderr


@pytest.mark.kernel
def test_the_login_of_the_portal_may_talk_to_the_agent_and_a_stranger_may_not(bundle_directory: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="nw-") as directory:
        os.chown(directory, int(AGENT), int(GROUP))
        Path(directory).chmod(0o755)
        relay = [PYTHON, str(bundle_directory / "netzwart-agent.pyz"), "relay", "--socket", f"{directory}/agent"]
        with serving(
            bundle_directory, Path(directory), before=["setpriv", "--reuid", AGENT, *RIGHTS], more=["--fake", "--group", "nogroup"]
        ):
            login = subprocess.run(["setpriv", "--reuid", LOGIN, *RIGHTS, *NO_RIGHT, *relay], stdin=subprocess.DEVNULL, check=False)
            stranger = ["setpriv", "--reuid", LOGIN, "--regid", LOGIN, "--clear-groups", *NO_RIGHT, *relay]
            refused = subprocess.run(stranger, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert login.returncode == 0
    assert "not permitted" in refused.stderr


def test_the_bundle_says_which_sources_it_consists_of(bundle_directory: Path) -> None:
    """The release alone would be the same for years, so the version contains a digest of the checkout's sources."""
    ask = [
        PYTHON,
        "-c",
        f"import sys; sys.path.insert(0, {str(bundle_directory / 'netzwart-agent.pyz')!r}); "
        "from gateway.release import compute_version; print(compute_version())",
    ]
    said = subprocess.run(ask, cwd=bundle_directory, capture_output=True, text=True, check=True).stdout.strip()
    assert said == compute_version()
    assert said.partition("+")[0] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert len(said.partition("+")[2]) == 8


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed (Debian: systemd)")
def test_systemd_finds_no_fault_with_the_units(bundle_directory: Path) -> None:
    for unit in sorted(bundle_directory.glob("*.service")):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
        assert [line for line in (done.stdout + done.stderr).splitlines() if "netzwart" in line] == []


def unit(name: str) -> dict[str, str]:
    """Return the settings of a unit; the last value of a repeated one."""
    lines = (ROOT / "gateway" / "systemd" / f"{name}.service").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def test_an_agent_that_fails_is_started_again_for_ever_and_cannot_take_all_memory() -> None:
    agent = unit("netzwart-agent")
    assert (agent["Restart"], agent["StartLimitIntervalSec"]) == ("always", "0")
    assert agent["MemoryMax"]


def test_a_directory_that_a_unit_makes_itself_may_be_missing_when_it_starts() -> None:
    """systemd opens the paths before each command of a unit, the one that makes the directory too, and fails for one that is missing.

    The mode is given, because the unit's own UMask would keep the agent out of a directory of root.
    """
    for file in sorted((ROOT / "gateway" / "systemd").glob("*.service")):
        lines = file.read_text().splitlines()
        for made in (line.rpartition(" ")[2] for line in lines if line.startswith("ExecStartPre=") and "mkdir" in line):
            assert f"ExecStartPre=+/bin/mkdir -m 755 -p {made}" in lines, file.name
            assert f"ReadWritePaths=-{made}" in lines, file.name
            assert f"ReadWritePaths={made}" not in lines, file.name


def test_what_closes_comes_before_everything_and_needs_nothing_that_can_fail() -> None:
    closed = unit("netzwart-closed")
    assert {"netzwart-restore.service", "network-pre.target"} <= set(closed["Before"].split())
    assert "netzwart-closed.service" in unit("netzwart-restore")["After"].split()
    assert closed["DefaultDependencies"] == "no"
    assert not {"User", "StateDirectory", "RequiresMountsFor", "EnvironmentFile", "ConditionPathExists"} & closed.keys()
