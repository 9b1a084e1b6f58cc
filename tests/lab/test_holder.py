"""A lab ends with everything in it, however it ends, and is isolated from other labs."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.lab import Lab
from lab.launch import LabError, launch
from lab.plan import build_plan
from lab.process import ProcessRef
from lab.program import build_module_command
from lab.topology import Topology

pytestmark = pytest.mark.kernel


def processes(lab: Lab) -> list[ProcessRef]:
    """Return all processes in the lab's PID namespace."""
    held = Path(f"/proc/{lab.holder.pid}/ns/pid").readlink()
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if (directory / "ns/pid").readlink() == held:
                found.append(ProcessRef.from_pid(int(directory.name)))
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
    return found


def interfaces() -> set[Path]:
    return set(Path("/sys/class/net").iterdir())


def test_stopping_leaves_no_process_and_no_interface(topology: Topology) -> None:
    before = interfaces()
    with Lab.start(topology) as lab:
        sleeping = lab.popen("m1", ["sh", "-c", "echo ready; exec sleep 60"])
        assert sleeping.stdout is not None
        assert sleeping.stdout.readline() == "ready\n"
        inside = processes(lab)
        assert len(inside) >= 7  # at least: the holder, some hosts that answer, and the sleeper
    assert not any(process.is_alive for process in inside)
    assert sleeping.wait(timeout=60) == -signal.SIGKILL
    sleeping.stdout.close()
    assert interfaces() == before


def test_killing_the_holder_ends_everything(topology: Topology) -> None:
    with Lab.start(topology) as lab:
        inside = processes(lab)
        lab.holder.kill()
        assert not any(process.is_alive for process in inside)
        refusal = lab.run("m1", ["true"], check=False)
        assert (refusal.returncode, refusal.stderr) == (1, "the lab has ended\n")


def test_a_lab_ends_when_the_program_that_started_it_is_killed() -> None:
    start = (
        "from lab.lab import Lab; from lab.topology import load_topology; "
        "lab = Lab.start(load_topology()); print(*lab.holder, flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        pid, started = map(int, program.stdout.readline().split())
        holder = ProcessRef(pid, started)
        assert holder.is_alive
        program.kill()
    holder.wait(timeout=60)
    assert not holder.is_alive


def test_namespaces_have_names_only_inside(lab: Lab, topology: Topology) -> None:
    listed = lab.run("m1", ["ip", "netns", "list"]).stdout.split()
    assert set(listed) >= {node.name for node in topology.nodes}
    assert not any(Path("/run/netns", node.name).exists() for node in topology.nodes)


def test_two_labs_do_not_meet(topology: Topology) -> None:
    with Lab.start(topology) as one, Lab.start(topology) as other:
        one.run("m1", ["ip", "link", "set", "eth0", "down"])
        host = topology.get_node("m2").ipv4
        assert one.run("m1", ["ping", "-c", "1", "-W", "0.2", host], check=False).returncode != 0
        assert other.run("m1", ["ping", "-c", "1", "-W", "2", host]).returncode == 0


def test_a_plan_that_cannot_be_carried_out_says_what_failed(topology: Topology) -> None:
    broken = build_plan(topology)
    broken["nodes"][0]["batch"] = "addr add 10.0.0.1/8 dev nothing\n"
    with pytest.raises(LabError, match='Cannot find device "nothing"'):
        launch(broken, detached=False)


def test_a_program_inside_keeps_its_input_output_and_exit_status(lab: Lab) -> None:
    done = lab.run("m1", ["sh", "-c", "cat; echo complaint >&2; exit 7"], text="hello", check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("hello", "complaint\n", 7)


def test_a_program_inside_starts_in_the_same_directory(lab: Lab) -> None:
    assert lab.run("m1", ["pwd"]).stdout.strip() == str(Path.cwd())


def test_a_signal_reaches_the_program_inside(lab: Lab) -> None:
    with lab.popen("m1", ["sh", "-c", "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.02; done"]) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.terminate()
        assert program.stdout.readline() == "caught\n"
        assert program.wait(timeout=60) == 3


def test_the_way_a_program_inside_dies_is_passed_on(lab: Lab) -> None:
    assert lab.run("m1", ["sh", "-c", "kill -TERM $$"], check=False).returncode == -signal.SIGTERM


def test_killing_the_program_outside_ends_the_one_inside(lab: Lab) -> None:
    with lab.popen("m1", ["sh", "-c", "echo ready; exec sleep 60"]) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.kill()
        assert program.stdout.read() == ""  # ends when the last process that could write has ended


def test_killing_the_process_group_ends_what_the_command_started(lab: Lab) -> None:
    command = build_module_command(
        "lab.enter", str(lab.holder.pid), str(lab.holder.started), "m1", "sh", "-c", "sleep 60 & echo ready; wait"
    )
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        os.killpg(program.pid, signal.SIGKILL)
        assert program.stdout.read() == ""


def test_an_unknown_node_is_named(lab: Lab) -> None:
    with pytest.raises(KeyError, match="unknown node m9"):
        lab.run("m9", ["true"])
