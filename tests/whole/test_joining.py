"""Joining a machine as a gateway: manage.py gateway against a real sshd."""

import io
from pathlib import Path
from subprocess import Popen

import pytest
from django.core.management import CommandError, call_command

from apps.deployments.transport import ssh
from apps.network.models import Gateway
from lab import sshd as lab_sshd
from lab.lab import Lab
from tests import factories
from tests.whole.system import sshd

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

ADD = ("add", "nat-1", "--address", "172.31.0.11", "--group", "Lindenhof", "--lan", "lan0", "--wan", "wan0", "--management", "mgmt0")
WRONG = "SHA256:" + "A" * 43


@pytest.fixture
def fingerprint(by_ssh: dict[str, Popen[str]], network: factories.Network, sockets: Path) -> str:
    """Fingerprint of nat-1's host key; the portal does not know nat-1 yet."""
    Gateway.objects.filter(name="nat-1").delete()
    return ssh.compute_fingerprint(lab_sshd.ensure_host_key(sockets / "nat-1.sshd"))


def gateway(*arguments: str) -> str:
    """Run the command; return what it prints."""
    output = io.StringIO()
    call_command("gateway", *arguments, stdout=output, stderr=output)
    return output.getvalue()


def test_a_machine_whose_fingerprint_is_given_joins_and_answers(fingerprint: str) -> None:
    said = gateway(*ADD, "--fingerprint", fingerprint)
    assert f"shows the host key {fingerprint}" in said
    assert 'restrict,command="' in said
    assert "Agent 0.1.0+" in said
    made = Gateway.objects.get(name="nat-1")
    assert (made.link, str(made.address), ssh.compute_fingerprint(made.host_key)) == ("ssh", "172.31.0.11", fingerprint)
    assert list(map(str, made.management_networks)) == ["172.31.0.1/32"], "the portal's own address, unless others are named"
    assert "nat-1 answers a new connection after" in gateway("check", "nat-1")


def test_another_fingerprint_is_refused_with_both_and_what_to_do(fingerprint: str) -> None:
    for more in ((), ("--yes",)):
        with pytest.raises(CommandError, match=r"Nothing was changed\. Compare on the gateway's console") as refused:
            gateway(*ADD, "--fingerprint", WRONG, *more)
        assert f"expected {WRONG}, found {fingerprint}" in str(refused.value)
    assert not Gateway.objects.filter(name="nat-1").exists()


def test_a_person_is_asked_and_only_yes_is_yes(fingerprint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in ("", "y\n", "no\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        with pytest.raises(CommandError, match="Nothing was changed"):
            gateway(*ADD)
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    assert "Agent 0.1.0+" in gateway(*ADD)


def test_yes_without_a_fingerprint_says_that_the_host_key_was_not_compared(fingerprint: str) -> None:
    assert "The host key was not compared" in gateway(*ADD, "--yes")


def test_an_agent_that_is_not_there_yet_does_not_keep_the_gateway_from_joining(bare_lab: Lab, fingerprint: str, sockets: Path) -> None:
    (sockets / "nat-1.sock").rename(sockets / "away")
    assert "The agent does not answer yet" in gateway(*ADD, "--fingerprint", fingerprint)
    with pytest.raises(CommandError, match=r"nat-1: .*no such socket; is the agent running"):
        gateway("check", "nat-1")
    (sockets / "away").rename(sockets / "nat-1.sock")
    assert "Agent 0.1.0+" in gateway("check", "nat-1")


def test_a_gateway_that_was_set_up_anew_is_refused_until_a_person_trusts_it(
    bare_lab: Lab, fingerprint: str, by_ssh: dict[str, Popen[str]], sockets: Path
) -> None:
    gateway(*ADD, "--fingerprint", fingerprint)
    by_ssh["nat-1"].terminate()
    by_ssh["nat-1"].wait(10)
    for file in (sockets / "nat-1.sshd").iterdir():
        file.unlink()
    with sshd(bare_lab, "nat-1", sockets):
        anew = ssh.compute_fingerprint(lab_sshd.ensure_host_key(sockets / "nat-1.sshd"))
        with pytest.raises(CommandError, match="the host key has changed") as refused:
            gateway("check", "nat-1")
        assert f"expected {fingerprint}, found {anew}" in str(refused.value)
        assert f"Trusted so far: {fingerprint}" in gateway("trust", "nat-1", "--fingerprint", anew)
        assert "Agent 0.1.0+" in gateway("check", "nat-1")


def test_an_agent_with_another_name_is_refused(bare_lab: Lab, fingerprint: str, sockets: Path) -> None:
    with pytest.raises(CommandError, match=r"The agent calls itself 'nat-1'\. Start it with --name nat-7"):
        gateway("add", "nat-7", *ADD[2:], "--fingerprint", fingerprint)
