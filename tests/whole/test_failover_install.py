"""Files of failover are installed on trial: whatever does not work with them, the files before come back.

keepalived and conntrackd are real. Nodes of a lab have no systemd, so `systemctl` is a script here that ends and starts the programs
as its units do; tests/machines installs on machines that boot.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from firewall.failover import ProgramPaths, digest_files, render_files
from firewall.file_trial import FileTrial, FileTrialIs, FileTrialPhase, InstallFiles, KeepFiles, RevertFiles
from gateway import failover_files
from lab.failover import PROGRAM, build_gateway, find_obstacle, get_directory, write_files
from lab.lab import Lab
from lab.program import ROOT
from tests.agent.client import Client
from tests.whole.loaded_policy import MEMBERS, load
from tests.whole.system import GATEWAYS, agent, wait_for

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.xdist_group("whole"),
    pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle() or "can run"),
]
NAME = GATEWAYS[0]
AT = get_directory(NAME)
PATHS = ProgramPaths(programs=AT, runtime=AT)
VALUES = build_gateway(NAME, interval=100)
ASKED = InstallFiles(VALUES, digest_files(VALUES))
KEEPALIVED, CONNTRACKD, SETTINGS = PATHS.keepalived, PATHS.conntrackd, PATHS.settings
SYSTEMCTL = """#!/bin/sh
echo "$@" >>"$AT/systemctl.log"
case $1 in restart | stop) ;; *) exit ;; esac
for pid in $(cat "$AT"/keepalived.pid "$AT"/conntrackd.pid 2>/dev/null); do
    kill "$pid" 2>/dev/null && while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
done
[ "$1" = restart ] || exit 0
"$AT/netzwart-failover" unlock
setsid conntrackd -C /etc/conntrackd/conntrackd.conf >"$AT/conntrackd.log" 2>&1 &
echo $! >"$AT/conntrackd.pid"
"$AT/netzwart-failover" prepare
setsid keepalived -n -l -f /etc/keepalived/keepalived.conf -r "$AT/vrrp.pid" -c "$AT/checkers.pid" >"$AT/keepalived.log" 2>&1 &
echo $! >"$AT/keepalived.pid"
"""
REQUESTS = f"{AT}/requests"
# An /etc of its own: nothing of this machine is changed.
CALL = 'mount --bind "$AT/etc" /etc && PATH="$AT/bin:$PATH" exec "$@"'
NO_LINK = "wan9"  # an interface that is down


@dataclass(frozen=True)
class InstallingGateway:
    """The first gateway of the lab, with an /etc and a systemctl of its own."""

    lab: Lab

    def call(self, *command: str, check: bool = True, patience: int = 120) -> "subprocess.CompletedProcess[str]":
        return self.lab.run(NAME, self.build_command(*command, patience=patience), check=check, timeout=300)

    def build_command(self, *command: str, patience: int = 120) -> list[str]:
        render = f"env PYTHONPATH={ROOT} {sys.executable} -m gateway failover-files --programs {AT} --runtime {AT}"
        given = {"AT": AT, "NETZWART_FAILOVER_PATIENCE": patience, "NETZWART_FAILOVER_RUNTIME": AT, "NETZWART_FAILOVER_RENDER": render}
        return ["env", *(f"{name}={value}" for name, value in given.items()), "unshare", "--mount", "sh", "-c", CALL, "-", *command]

    def offer(self, name: str = "", *, old: str = "", new: str = "") -> str:
        """Put the portal's files into a directory; in the one with this name `old` becomes `new`, or `new` is added. Returns its path."""
        files = {PurePosixPath(path).name: text for path, text in render_files(VALUES, PATHS).items()}
        if name:
            files[name] = files[name].replace(old, new) if old else files[name] + new
        write_files(self.lab, NAME, {f"{AT}/files/{name}": text for name, text in files.items()})
        self._use_program()
        return f"{AT}/files"

    def _use_program(self) -> None:
        """Let netzwart-failover use the settings in /etc, as it does on a gateway."""
        text = f'#!/bin/sh\nexec sh {PROGRAM} "$@"\n'
        self.lab.run(NAME, ["sh", "-c", 'cat > "$0"', f"{AT}/netzwart-failover"], text=text)

    def install(self, directory: str, *, check: bool = True, patience: int = 120) -> "subprocess.CompletedProcess[str]":
        return self.call(f"{AT}/netzwart-failover", "install", directory, check=check, patience=patience)

    def adopt(self, *, patience: int = 120) -> "subprocess.Popen[str]":
        """Start what the path unit starts when the agent has left a request."""
        names = (f"{REQUESTS}/{name}" for name in (failover_files.REQUEST, failover_files.KEEP))
        return self.lab.popen(NAME, self.build_command(f"{AT}/netzwart-failover", "adopt", *names, patience=patience))

    def read(self, path: str) -> str:
        """Return the text of the file; "" if it is missing."""
        return self.call("cat", path, check=False).stdout

    def exists(self, path: str) -> bool:
        return self.call("test", "-e", path, check=False).returncode == 0


@pytest.fixture
def gateway(bare_lab: Lab) -> Iterator[InstallingGateway]:
    load(bare_lab, MEMBERS)
    made = InstallingGateway(bare_lab)
    made.lab.run(NAME, ["sh", "-c", 'mkdir -p "$0/etc" "$0/bin" /run/lock && cp /etc/passwd /etc/group "$0/etc"', AT])
    made.lab.run(NAME, ["sh", "-c", 'cat > "$0" && chmod 755 "$0"', f"{AT}/bin/systemctl"], text=SYSTEMCTL)
    yield made
    made.call("systemctl", "stop")


@pytest.fixture
def carrier(gateway: InstallingGateway) -> InstallingGateway:
    """A gateway that carries both families with the portal's files."""
    assert gateway.install(gateway.offer()).returncode == 0
    return gateway


def wait_until_primary(gateway: InstallingGateway) -> None:
    """Wait until the gateway carries both families."""
    wait_for(lambda: gateway.call(f"{AT}/netzwart-failover", "status").stdout.count(": primary since") == 2)


def test_files_that_work_are_installed_and_those_before_are_kept(gateway: InstallingGateway) -> None:
    assert "On trial …\nInstalled.\nIPv4: " in gateway.install(gateway.offer()).stdout
    wait_until_primary(gateway)
    again = gateway.offer("failover.conf", new="# another\n")
    assert "Installed." in gateway.install(again).stdout
    assert gateway.read(SETTINGS).endswith("# another\n")
    assert gateway.read(f"{SETTINGS}.before").startswith("# Written by Netzwart.")
    assert not gateway.exists("/etc/netzwart/failover.trial")
    log = gateway.read(f"{AT}/systemctl.log")
    assert log.count("enable --quiet conntrackd.service keepalived.service netzwart-failover.timer") == 2


def test_a_file_that_keepalived_refuses_changes_nothing(carrier: InstallingGateway) -> None:
    refused = carrier.install(carrier.offer("keepalived.conf", new="}\n"), check=False)
    assert refused.returncode == 1
    assert "keepalived refuses the file; nothing was changed" in refused.stderr
    assert not carrier.exists(f"{KEEPALIVED}.before")
    assert carrier.read(f"{AT}/systemctl.log").count("restart") == 1


def test_the_first_files_are_taken_away_if_a_program_does_not_work_with_them(gateway: InstallingGateway) -> None:
    refused = gateway.install(gateway.offer("conntrackd.conf", new="Nonsense {\n"), check=False, patience=3)
    assert refused.returncode == 1
    assert refused.stderr.endswith("conntrackd does not work with these files (journalctl -u conntrackd). The files before are back.\n")
    assert not any(gateway.exists(path) for path in (KEEPALIVED, CONNTRACKD, SETTINGS))
    disabled, stopped = gateway.read(f"{AT}/systemctl.log").splitlines()[-2:]
    assert disabled == "disable --quiet netzwart-failover.timer"
    assert stopped == "stop conntrackd.service keepalived.service netzwart-failover.timer"


def test_files_with_which_a_gateway_can_carry_no_more_go_and_it_carries_again_with_those_before(carrier: InstallingGateway) -> None:
    before = carrier.read(KEEPALIVED)
    carrier.lab.run(NAME, ["ip", "link", "add", NO_LINK, "type", "bridge"])
    directory = carrier.offer("keepalived.conf", old="        wan0\n", new=f"        {NO_LINK}\n")
    refused = carrier.install(directory, check=False, patience=20)
    assert refused.returncode == 1
    assert "this gateway could carry IPv4 before, and cannot with these files. The files before are back." in refused.stderr
    assert carrier.read(KEEPALIVED) == before
    wait_until_primary(carrier)


def test_an_installation_whose_session_ends_takes_the_files_back(carrier: InstallingGateway) -> None:
    directory = carrier.offer("conntrackd.conf", new="Nonsense {\n")
    with carrier.lab.popen(NAME, carrier.build_command(f"{AT}/netzwart-failover", "install", directory)) as process:
        wait_for(lambda: carrier.read(f"{AT}/systemctl.log").count("restart") == 2)
        assert "Nonsense" in carrier.read(CONNTRACKD)
        assert "The files are on trial since" in carrier.call(f"{AT}/netzwart-failover", "status").stdout
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 1
    assert "Nonsense" not in carrier.read(CONNTRACKD)
    assert carrier.read(f"{AT}/systemctl.log").count("restart") == 3


def test_a_second_installation_is_refused_while_one_is_under_way(carrier: InstallingGateway) -> None:
    directory = carrier.offer("conntrackd.conf", new="Nonsense {\n")
    with carrier.lab.popen(NAME, carrier.build_command(f"{AT}/netzwart-failover", "install", directory)) as process:
        wait_for(lambda: "Nonsense" in carrier.read(CONNTRACKD))
        refused = carrier.install(carrier.offer(), check=False)
        assert refused.returncode == 1
        assert refused.stderr == "netzwart-failover: another installation is under way here, wait for its end; nothing was changed\n"
        assert "Nonsense" in carrier.read(CONNTRACKD)
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 1
    assert "Installed." in carrier.install(carrier.offer()).stdout


def test_files_are_installed_after_conntrackd_was_killed(carrier: InstallingGateway) -> None:
    carrier.call("sh", "-c", 'kill -9 "$(cat "$AT/conntrackd.pid")"')
    assert carrier.exists(PATHS.lock)
    assert "Installed." in carrier.install(carrier.offer(), patience=30).stdout


def test_a_power_cut_during_the_trial_leaves_the_files_before(carrier: InstallingGateway) -> None:
    directory = carrier.offer("conntrackd.conf", new="Nonsense {\n")
    with carrier.lab.popen(NAME, carrier.build_command(f"{AT}/netzwart-failover", "install", directory)) as process:
        wait_for(lambda: "Nonsense" in carrier.read(CONNTRACKD))
        process.kill()
    trial = "/etc/netzwart/failover.trial"
    carrier.call(f"{AT}/netzwart-failover", "recover")
    assert "Nonsense" in carrier.read(CONNTRACKD), "the machine did not boot"
    carrier.call("sh", "-c", f"echo another-boot >{trial}")
    carrier.call(f"{AT}/netzwart-failover", "recover")
    assert "Nonsense" not in carrier.read(CONNTRACKD)
    assert not carrier.exists(trial)


@pytest.fixture
def client(gateway: InstallingGateway, tmp_path: Path) -> Iterator[Client]:
    """A connection to the gateway's agent, which leaves requests for netzwart-failover."""
    gateway.offer()
    gateway.lab.run(NAME, ["mkdir", REQUESTS])
    with agent(gateway.lab, NAME, tmp_path, more=("--installs", REQUESTS, "--outcome", f"{AT}/trial")):
        made = Client(tmp_path / f"{NAME}.sock")
        yield made
        made.close()


def test_files_that_the_portal_asked_for_stay_when_it_confirms(gateway: InstallingGateway, client: Client) -> None:
    assert client.ask(ASKED) == FileTrialIs(FileTrialPhase.ASKED)
    with gateway.adopt() as process:
        wait_for(lambda: client.ask(FileTrial()) == FileTrialIs(FileTrialPhase.TRIAL, ASKED.digest))
        assert gateway.exists("/etc/netzwart/failover.trial")
        client.ask(KeepFiles(ASKED.digest))
        assert process.wait(60) == 0
    assert client.ask(FileTrial()) == FileTrialIs(FileTrialPhase.KEPT, ASKED.digest)
    assert not gateway.exists("/etc/netzwart/failover.trial")
    assert gateway.read(SETTINGS) == render_files(VALUES, PATHS)[SETTINGS]


def test_files_that_nobody_confirms_go(gateway: InstallingGateway, client: Client) -> None:
    client.ask(ASKED)
    with gateway.adopt(patience=20) as process:
        wait_for(lambda: client.ask(FileTrial()) == FileTrialIs(FileTrialPhase.TRIAL, ASKED.digest))
        client.ask(KeepFiles("the digest of others"))
        assert process.wait(120) == 1
    problem = "the portal has not confirmed within 20 s. The files before are back."
    assert client.ask(FileTrial()) == FileTrialIs(FileTrialPhase.REFUSED, problem=problem)
    assert not any(gateway.exists(path) for path in (KEEPALIVED, CONNTRACKD, SETTINGS))


@pytest.mark.parametrize("made", ['mkfifo "$0"', 'echo "$1" >"$0.own" && ln -s "$0.own" "$0"'], ids=["pipe", "link"])
def test_files_whose_confirmation_is_a_pipe_or_a_link_go(gateway: InstallingGateway, client: Client, made: str) -> None:
    """Whoever took over the agent's account can make anything of the file, which root reads."""
    client.ask(ASKED)
    with gateway.adopt(patience=20) as process:
        wait_for(lambda: client.ask(FileTrial()) == FileTrialIs(FileTrialPhase.TRIAL, ASKED.digest))
        gateway.lab.run(NAME, ["sh", "-c", made, f"{REQUESTS}/{failover_files.KEEP}", ASKED.digest])
        assert process.wait(120) == 1
    assert not any(gateway.exists(path) for path in (KEEPALIVED, CONNTRACKD, SETTINGS))


def test_files_that_the_portal_takes_back_go_at_once(gateway: InstallingGateway, client: Client) -> None:
    client.ask(ASKED)
    with gateway.adopt(patience=600) as process:
        wait_for(lambda: client.ask(FileTrial()) == FileTrialIs(FileTrialPhase.TRIAL, ASKED.digest))
        client.ask(RevertFiles())
        assert process.wait(120) == 1
    problem = "the portal has taken them back. The files before are back."
    assert client.ask(FileTrial()) == FileTrialIs(FileTrialPhase.REFUSED, problem=problem)
    assert not gateway.exists(SETTINGS)


def test_a_request_that_is_not_values_is_refused_with_its_reason(gateway: InstallingGateway, client: Client) -> None:
    gateway.lab.run(NAME, ["sh", "-c", 'echo "{}" > "$0"', f"{REQUESTS}/{failover_files.REQUEST}"])
    with gateway.adopt() as process:
        assert process.wait(60) == 1
    told = client.ask(FileTrial())
    assert isinstance(told, FileTrialIs)
    assert told.phase is FileTrialPhase.REFUSED
    assert told.problem.startswith("the portal's values cannot be used: ")
    assert not gateway.exists(SETTINGS)
