"""Blocked members on a real kernel: what they can reach, what they get instead, and when the block ends."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from apps.bans.blocks.services import block_member, lift_block
from apps.bans.models import Block
from apps.deployments.services import reconcile
from apps.members.models import Member
from apps.nat.services import add_forward
from lab.connect import NoAnswerError
from lab.lab import Lab
from tests import factories
from tests.whole.system import INTERNET, choose_end, conversation, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]
INTERNET6, ELSEWHERE = "2001:db8:cafe::10", "203.0.113.11"
PORTAL, PUBLIC = "192.0.2.40", "198.51.100.7"


def block_resident(network: factories.Network, host: str = "m1", **given: object) -> Block:
    made = block_member(member=network.residents[host].member, reason="abuse", by=network.admin, **given)  # type: ignore[arg-type]
    reconcile(network.group)
    return made


def why_not(lab: Lab, node: str, host: str, port: int, protocol: str = "tcp") -> str:
    """Return the reason why no answer comes."""
    with pytest.raises(NoAnswerError) as refused:
        lab.connect(node, protocol, host, port, timeout=2.0)
    return str(refused.value)


@pytest.fixture
def served_network(lab: Lab, network: factories.Network) -> Iterator[factories.Network]:
    """The network with servers, and a forward to m1's host."""
    factories.servers(network)
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=network.admin)
    reconcile(network.group)
    yield network


@pytest.mark.parametrize(("host", "source"), [(INTERNET, "10.16.0.10"), (INTERNET6, "2001:db8:a0:10::10")])
def test_a_blocked_members_http_reaches_the_notice_host_which_sees_whom_to_tell(
    lab: Lab, served_network: factories.Network, host: str, source: str
) -> None:
    assert lab.connect("m1", "tcp", host, 80).node == "internet"
    block_resident(served_network)
    answer = lab.connect("m1", "tcp", host, 80)
    assert (answer.node, answer.peer_address) == ("notice", source)
    assert lab.connect("m2", "tcp", host, 80).node == "internet"


def test_all_else_is_refused_at_once_but_what_stays_reachable(lab: Lab, served_network: factories.Network) -> None:
    block_resident(served_network)
    assert why_not(lab, "m1", INTERNET, 443) == "refused"
    assert why_not(lab, "m1", INTERNET6, 443) == "refused"
    assert why_not(lab, "m1", INTERNET, 53, "udp") != "timed out"
    assert why_not(lab, "m1", PORTAL, 22) == "refused"
    assert lab.connect("m1", "tcp", PORTAL, 443).node == "web"
    assert lab.connect("m1", "udp", ELSEWHERE, 53).node == "internet"
    assert lab.connect("m2", "tcp", PORTAL, 22).node == "web"


def test_nobody_reaches_a_blocked_member(lab: Lab, served_network: factories.Network) -> None:
    assert lab.connect("internet", "tcp", PUBLIC, 8443).node == "m1"
    block_resident(served_network)
    assert why_not(lab, "internet", PUBLIC, 8443) == "refused"
    assert why_not(lab, "m3", PUBLIC, 8443) == "refused"


def test_open_connections_end_with_the_block_and_those_of_others_go_on(lab: Lab, served_network: factories.Network) -> None:
    with (
        conversation(lab, "m1", INTERNET, 443) as out,
        conversation(lab, "internet", PUBLIC, 8443) as into,
        conversation(lab, "m2", INTERNET, 443) as other,
    ):
        assert (out(), into(), other()) == (True, True, True)
        block_resident(served_network)
        assert (out(), into(), other()) == (False, False, True)


def test_a_lifted_block_leaves_no_connection_to_the_notice_page(lab: Lab, served_network: factories.Network) -> None:
    made = block_resident(served_network)
    with conversation(lab, "m1", INTERNET, 80) as with_notice:
        assert with_notice()
        lift_block(block=made, by=served_network.admin)
        reconcile(served_network.group)
        assert not with_notice()
    assert lab.connect("m1", "tcp", INTERNET, 80).node == "internet"
    assert lab.connect("internet", "tcp", PUBLIC, 8443).node == "m1"


def test_a_block_ends_in_the_kernel_without_the_portal(lab: Lab, served_network: factories.Network) -> None:
    block_resident(served_network, until=choose_end(lambda: reconcile(served_network.group, force=True)))
    assert reaches(lab, "m1", INTERNET, 443) is None
    wait_for(lambda: reaches(lab, "m1", INTERNET, 443))
    assert "block" not in lab.run("nat-1", ["nft", "list", "set", "inet", "netzwart", "blocked4"]).stdout.partition("elements")[2]


def open_and_deploy(lab: Lab, network: factories.Network) -> None:
    """Do what has to be done before a block ends: deploy, and open three conversations."""
    reconcile(network.group, force=True)
    for _ in range(3):
        with conversation(lab, "m2", INTERNET, 80) as answers:
            assert answers()


def test_a_block_that_ends_by_its_time_leaves_no_connection_to_the_notice_page(lab: Lab, served_network: factories.Network) -> None:
    block_resident(served_network, until=choose_end(lambda: open_and_deploy(lab, served_network)))
    with (
        conversation(lab, "m1", INTERNET, 80, patience=2) as with_notice,
        conversation(lab, "m1", INTERNET6, 80, patience=2) as with_notice6,
        conversation(lab, "m2", INTERNET, 80) as other,
    ):
        assert (with_notice(), with_notice6()) == (True, True)
        wait_for(lambda: not with_notice() and not with_notice6())
        assert other()
    assert lab.connect("m1", "tcp", INTERNET, 80).node == "internet"


ASK = """
import sys, urllib.request, urllib.error
try:
    urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers={"Host": "example.org", "Accept-Language": "de"}), timeout=90)
except urllib.error.HTTPError as answered:
    print(answered.code, answered.headers["Cache-Control"], answered.headers["Connection"], answered.read().decode())
"""


@contextmanager
def notice_page(lab: Lab) -> Iterator[None]:
    """Run the real page on the notice host, as docs/blocks.md describes."""
    given = connection.get_connection_params()
    url = " ".join(f"{name}={given[name]}" for name in ("dbname", "user", "host") if given.get(name))
    server = ["-m", "gunicorn", "--worker-class", "portal.web.worker.NoticeWorker", "--keep-alive", "0", "--no-control-socket"]
    command = ["env", f"NETZWART_DATABASE_URL={url}", sys.executable, *server, "--bind", "[::]:80", "portal.notice:application"]
    with lab.popen("notice", command, stderr=subprocess.PIPE) as process:
        assert process.stderr
        try:
            assert any("Booting worker" in line for line in process.stderr)
            yield
        finally:
            process.terminate()


@pytest.mark.parametrize("host", [INTERNET, f"[{INTERNET6}]"])
def test_the_page_tells_the_blocked_member_why_in_their_language(lab: Lab, served_network: factories.Network, host: str) -> None:
    member = served_network.residents["m1"].member
    Member.objects.filter(pk=member.pk).update(language="de")
    block_resident(served_network, message="Your <laptop> sends spam.", note="secret")
    with notice_page(lab):
        said = lab.run("m1", [sys.executable, "-c", ASK, f"http://{host}/any/path?at=all"], timeout=120).stdout
    assert said.startswith("511 no-store close ")
    assert f"M-{member.number}" in said
    assert "Your &lt;laptop&gt; sends spam." in said
    assert '<html lang="de">' in said
    assert "netzwart@lindenhof.example" in said
    assert "secret" not in said


def test_the_first_block_changes_elements_alone(lab: Lab, served_network: factories.Network) -> None:
    block_member(member=served_network.residents["m1"].member, reason="abuse", by=served_network.admin)
    rollout = reconcile(served_network.group)
    assert rollout is not None
    assert rollout.revision.changes == [{"kind": "blocks", "added": 2, "removed": 0, "changed": 0, "of": 2}]
