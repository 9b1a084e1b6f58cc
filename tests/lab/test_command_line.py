"""`python -m lab`: labs that outlive the command that started them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.process import ProcessRef
from lab.program import ROOT
from lab.topology import Topology

pytestmark = pytest.mark.kernel

type Command = Callable[..., subprocess.CompletedProcess[str]]


def words(state: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "lab", "--state", str(state), *arguments]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(words(tmp_path, *arguments), input=text, capture_output=True, text=True, cwd=ROOT, timeout=30, check=False)

    yield run
    for written in tmp_path.glob("*.json"):
        run("--name", written.stem, "down")


def test_up_and_down_can_be_said_twice(command: Command) -> None:
    said = [command(word).stdout for word in ("up", "up", "down", "down")]
    assert "is up: 14 nodes" in said[0]
    assert said[1:] == ["The lab demo is already up.\n", "The lab demo is down.\n", "The lab demo was not up.\n"]


def test_status_shows_every_node_with_its_addresses_and_who_answers(command: Command, topology: Topology) -> None:
    command("up")
    told = command("status")
    assert told.returncode == 0
    assert told.stdout.count(" answers ") == 7
    for node in topology.nodes:
        assert node.name in told.stdout
        assert all(str(address) in told.stdout for interface in node.interfaces for address in interface.addresses)


def test_status_shows_a_host_that_does_not_answer(command: Command) -> None:
    command("up")
    command("exec", "m3", "--", "ip", "address", "flush", "dev", "eth0")
    told = command("status")
    assert told.returncode == 1
    assert told.stdout.count("does not answer") == 1


# Mounts everything of this machine below a directory that is no mount point itself, like a root directory that was only unpacked.
PLAIN_CHROOT = """
cd "$1" && root=$PWD && shift
for entry in /*; do
    if [ -L "$entry" ]; then cp -a "$entry" "$root$entry"
    elif [ -d "$entry" ]; then mkdir "$root$entry" && mount --rbind "$entry" "$root$entry"
    fi
done
exec chroot "$root" "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the root directory")
@pytest.mark.parametrize("arguments", [["check"], ["up"], ["connect", "internet", "tcp", "198.51.100.7", "8443"]])
def test_in_a_chroot_without_a_mount_each_command_says_what_to_do(tmp_path: Path, arguments: list[str]) -> None:
    root = tmp_path / "root"
    root.mkdir()
    inside = ["env", "--chdir", str(ROOT), *words(tmp_path / "state", *arguments)]
    command = ["unshare", "--mount", "sh", "-c", PLAIN_CHROOT, "sh", str(root), *inside]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode in (1, 2)
    assert "bind it onto itself before chroot: mount --bind DIR DIR" in told.stderr
    assert "start it with" not in told.stderr


def test_status_of_a_lab_that_is_down_says_so(command: Command) -> None:
    told = command("status")
    assert (told.returncode, told.stdout) == (3, "The lab demo is down.\n")


def test_a_recycled_process_id_is_not_taken_for_the_lab(command: Command, tmp_path: Path) -> None:
    command("up")
    written = tmp_path / "demo.json"
    entry = json.loads(written.read_text())
    ProcessRef(entry["pid"], entry["started"]).kill()
    written.write_text(json.dumps(entry | {"pid": os.getpid()}))
    assert command("down").stdout == "The lab demo was not up.\n"


def test_labs_of_two_names_run_side_by_side(command: Command) -> None:
    command("--name", "one", "up")
    command("--name", "other", "up")
    command("--name", "one", "down")
    assert command("--name", "other", "exec", "m1", "--", "true").returncode == 0


def test_exec_keeps_standard_input_and_exit_status(command: Command) -> None:
    command("up")
    done = command("exec", "m1", "--", "sh", "-c", "cat; exit 7", text="hello")
    assert (done.stdout, done.returncode) == ("hello", 7)


def test_exec_hands_signals_down(command: Command, tmp_path: Path) -> None:
    command("up")
    script = "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.02; done"
    with subprocess.Popen(words(tmp_path, "exec", "m1", "--", "sh", "-c", script), stdout=subprocess.PIPE, text=True, cwd=ROOT) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGTERM)
        assert program.stdout.readline() == "caught\n"
    assert program.returncode == 3


def test_connect_prints_the_answer_or_the_reason(command: Command, topology: Topology) -> None:
    command("up")
    reached = command("connect", "m1", "tcp", topology.get_node("m2").ipv4, "80")
    assert (json.loads(reached.stdout)["node"], reached.returncode) == ("m2", 0)
    refused = command("connect", "m1", "tcp", topology.get_node("nat-1").ipv4, "80")
    assert (refused.stdout, refused.stderr, refused.returncode) == ("", "refused\n", 1)


def test_mistakes_are_answered_with_a_sentence(command: Command, tmp_path: Path) -> None:
    assert "the lab demo is not up; start it with" in command("exec", "m1", "--", "true").stderr
    command("up")
    assert "unknown node m9; known: m1, m2" in command("exec", "m9", "--", "true").stderr
    (tmp_path / "broken.toml").write_text("[pools]\nprivate = 7\n")
    told = command("--name", "other", "up", "--topology", str(tmp_path / "broken.toml"))
    assert told.stderr == "python -m lab: pools.private: expected a string\n"


def test_check_says_that_labs_can_run(command: Command) -> None:
    assert command("check").stdout.startswith("Labs can run here")
