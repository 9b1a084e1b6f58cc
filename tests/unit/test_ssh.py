"""Arguments for ssh, the expected host keys, and the meaning of ssh's error messages."""

import stat
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.deployments.transport import ssh
from apps.deployments.transport.relay_program import build_relay_program
from apps.network.models import Gateway

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43
OTHER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "B" * 43
CHANGED = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
The fingerprint for the ED25519 key sent by the remote host is
{found}.
Please contact your system administrator.
Host key for gateway has changed and you have requested strict checking.
Host key verification failed.
"""


@pytest.fixture(autouse=True)
def _places(settings: LazySettings, tmp_path: Path) -> None:
    settings.SSH_KEY = tmp_path / "key with spaces"
    settings.SSH_KNOWN_HOSTS = tmp_path / "known 100%"


def gateway(**changes: Any) -> Gateway:
    given = {"name": "nat-1", "link": "ssh", "address": ip_address("172.31.0.11"), "host_key": KEY, "management_port": 2222}
    return Gateway(**(given | changes))


def test_ssh_gets_one_argument_for_each_value_and_no_command(tmp_path: Path) -> None:
    found = ssh.build_arguments(gateway(address=ip_address("2001:db8::11"), ssh_user="netzwart"), 2222)
    assert found[-2:] == ("--", "2001:db8::11")
    assert found[found.index("-l") + 1] == "netzwart"
    assert found[found.index("-p") + 1] == "2222"
    assert found[found.index("-i") + 1] == str(tmp_path / "key with spaces")
    assert found[:4] == ("ssh", "-F", "none", "-T")


def test_no_session_is_shared_and_nobody_is_asked_or_trusted_blindly() -> None:
    found = ssh.build_arguments(gateway(), 22)
    options = {word for word, flag in zip(found[1:], found, strict=False) if flag == "-o"}
    assert options >= {
        "BatchMode=yes",
        "ControlPath=none",
        "ControlMaster=no",
        "StrictHostKeyChecking=yes",
        "GlobalKnownHostsFile=/dev/null",
        "IdentitiesOnly=yes",
        "ServerAliveInterval=5",
        "ConnectTimeout=10",
    }


@pytest.mark.parametrize("name", ["$(reboot)", "-oProxyCommand=reboot", "a; reboot", "a\nb", "../../etc/passwd"])
def test_a_hostile_name_or_account_is_never_more_than_the_value_of_one_option(name: str) -> None:
    plain, hostile = ssh.build_arguments(gateway(), 22), ssh.build_arguments(gateway(name=name, ssh_user=name), 22)
    assert len(plain) == len(hostile)
    assert [word for word in hostile if name in word] == [name]
    assert hostile[hostile.index("-l") + 1] == name


def test_known_hosts_holds_the_key_alone_and_belongs_to_us_alone() -> None:
    ssh.write_known_hosts(KEY)
    file = ssh.get_known_hosts_path(KEY)
    assert file.read_text() == f"gateway {KEY}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == [file.name], "nothing is left of writing it"


def test_a_file_that_somebody_changed_is_written_again() -> None:
    ssh.write_known_hosts(KEY)
    ssh.get_known_hosts_path(KEY).write_text(f"gateway {OTHER}\n")
    ssh.write_known_hosts(KEY)
    assert ssh.get_known_hosts_path(KEY).read_text() == f"gateway {KEY}\n"


def test_another_key_is_another_file_and_so_another_way() -> None:
    assert ssh.get_known_hosts_path(KEY) != ssh.get_known_hosts_path(OTHER)
    assert build_relay_program(gateway()) != build_relay_program(gateway(host_key=OTHER))


@pytest.mark.parametrize(
    "key", ["", f"{KEY}\n* {OTHER}", f"{KEY} comment", f"@cert-authority {KEY}", "ssh-rsa AAAAB3NzaC1yc2E=", KEY + "\n", KEY[:-1]]
)
def test_what_is_no_key_is_not_written_down(key: str) -> None:
    with pytest.raises(ValueError, match="not an ssh-ed25519 key"):
        ssh.write_known_hosts(key)
    assert not ssh.get_known_hosts_path(key).exists()


def test_a_fingerprint_is_as_openssh_shows_it() -> None:
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPQ2QBCHkMoZ8Ci+rvmHnNkgRRiPlZVsuwIOzkcMXhNz"
    assert ssh.compute_fingerprint(key) == "SHA256:duhfArilbygG7oxrIyppdNKwTOmWoAFhmg3EgD2v3GA"


def test_another_host_key_is_named_with_the_expected_one_and_what_to_do() -> None:
    words = ssh.explain_ssh_error(CHANGED.format(found=ssh.compute_fingerprint(OTHER)), KEY)
    assert f"expected {ssh.compute_fingerprint(KEY)}, found {ssh.compute_fingerprint(OTHER)}" in words
    assert "manage.py gateway trust" in words


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("netzwart@172.31.0.11: Permission denied (publickey).\r\n", "does not accept the portal's key"),
        (
            "Warning: Identity file /k not accessible: No such file or directory.\nnetzwart@h: Permission denied (publickey).",
            "the portal has no ssh key",
        ),
        ("Unable to negotiate: no matching host key type found. Their offer: ssh-rsa", "ssh-keygen -A"),
        (
            "ssh: connect to host 172.31.0.11 port 22: Connection refused\r\n",
            "ssh: connect to host 172.31.0.11 port 22: Connection refused",
        ),
        ("\x1b[2Jone\nline \x07two\n\n", "line two"),
        ("", ""),
    ],
)
def test_complaints_become_sentences(said: str, meaning: str) -> None:
    assert meaning in ssh.explain_ssh_error(said, KEY)


def test_what_a_hostile_gateway_says_is_cut() -> None:
    assert len(ssh.explain_ssh_error("x" * 10_000, KEY)) == ssh.LONGEST_WORDS
