"""Failover as the demo runs it: each gateway's service shares the families, and starts again what ends."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from signal import SIGKILL

import pytest

from firewall.failover import ProgramPaths, render_files
from lab.failover import await_sole_carrier, build_gateway, find_obstacle, get_directory, route_to_virtual_addresses
from lab.failover_service import build_command
from lab.lab import Lab
from tests.whole.loaded_policy import MEMBERS, load
from tests.whole.system import GATEWAYS, INTERNET, conversation, wait_for

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.xdist_group("whole"),
    pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle() or "can run"),
]
FIRST, OTHER = GATEWAYS
SECOND = 100  # centiseconds between advertisements


@pytest.fixture
def logs(bare_lab: Lab, tmp_path: Path) -> Iterator[dict[str, Path]]:
    """What each gateway's service prints. Each gateway carries the family for which it is preferred."""
    load(bare_lab, MEMBERS)
    with ExitStack() as stack:
        said = {name: tmp_path / f"{name}.log" for name in GATEWAYS}
        for name in GATEWAYS:
            own = tmp_path / name
            own.mkdir()
            for path, text in render_files(build_gateway(name, interval=SECOND), ProgramPaths.build_for_lab(name)).items():
                (own / Path(path).name).write_text(text)
            process = bare_lab.popen(name, build_command(name, own), stdout=stack.enter_context(said[name].open("w")))
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)
        await_sole_carrier(bare_lab, FIRST, 4)
        await_sole_carrier(bare_lab, OTHER, 6)
        yield said


def end(lab: Lab, name: str, program: str) -> None:
    """Kill a program of the gateway, as a crash does."""
    pids = lab.run(name, ["pgrep", "-o", "-f", f"^{program} .*{get_directory(name)}/"]).stdout.split()
    assert len(pids) == 1
    lab.run(name, ["kill", f"-{SIGKILL.value}", *pids])


def read_status(lab: Lab, name: str) -> str:
    return lab.run(name, [f"{get_directory(name)}/netzwart-failover", "status"]).stdout


def test_each_gateway_stands_by_for_the_family_of_the_other(bare_lab: Lab, logs: dict[str, Path]) -> None:
    for name in GATEWAYS:
        wait_for(lambda name=name: "drained" not in read_status(bare_lab, name))  # type: ignore[misc]
    wait_for(lambda: "IPv6: standby" in read_status(bare_lab, FIRST) and "IPv4: standby" in read_status(bare_lab, OTHER))


def test_keepalived_that_was_killed_stands_by_again_and_connections_go_on(bare_lab: Lab, logs: dict[str, Path]) -> None:
    route_to_virtual_addresses(bare_lab)
    with conversation(bare_lab, "m1", INTERNET, 7) as goes_on:
        assert goes_on()
        end(bare_lab, FIRST, "keepalived")
        await_sole_carrier(bare_lab, OTHER)
        assert goes_on()
        wait_for(lambda: "IPv4: standby" in read_status(bare_lab, FIRST))
    assert logs[FIRST].read_text() == "keepalived was ended by SIGKILL. It starts again in 5 s.\n"


def test_conntrackd_that_was_killed_runs_again(bare_lab: Lab, logs: dict[str, Path]) -> None:
    end(bare_lab, OTHER, "conntrackd")
    answers = ["conntrackd", "-C", ProgramPaths.build_for_lab(OTHER).conntrackd, "-s"]
    wait_for(lambda: "It starts again" in logs[OTHER].read_text())
    wait_for(lambda: bare_lab.run(OTHER, answers, check=False).returncode == 0)
    assert logs[OTHER].read_text() == "conntrackd was ended by SIGKILL. It starts again in 5 s.\n"
