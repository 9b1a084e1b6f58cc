"""Commits that fail before the kernel has anything of them: nothing has changed, so nothing is taken back."""

import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from firewall import wire
from firewall.diff import Delta, ElementChange, diff
from firewall.ruleset import EMPTY, PLAIN, Elements, Ruleset, Set, Type
from gateway import element_renewal
from gateway.kernel import KernelTable
from gateway.memory_table import FakeKernel
from gateway.table import NOTHING_KNOWN, CommitRefusedError, TableError, approve_all
from tests.agent.conftest import Bench, make_gateway_param
from tests.agent.gateways import InProcess, clock
from tests.agent.requests import deploy, runs, send_refused, welcome
from tests.agent.rulesets import key, network, step, text_of, whole

UP = Set("up4", (Type.IPV4,), 1 << 16)
TIMED = Set("bans4_32", (Type.IPV4,), 1 << 16, timeout=True)


class Contended(FakeKernel):
    """A kernel to which other programs commit. busy: it refuses the next transaction, and cannot be read after that."""

    busy = refused = False

    def commit(self, delta, now, approve=approve_all):  # type: ignore[no-untyped-def]  # as in FakeKernel
        if self.busy:
            self.refused = True
            raise CommitRefusedError("bans4_32: delete element: No such file or directory")
        super().commit(delta, now, approve)

    def read(self, now: float, known: Mapping[str, Elements] = NOTHING_KNOWN) -> Ruleset:
        if self.refused:
            raise TableError("the ruleset changed during each of 5 dumps")
        return super().read(now, known)


@pytest.fixture
def contended_gateway(tmp_path: Path) -> Iterator[InProcess]:
    """Yield a gateway with two confirmed members."""
    gateway = InProcess(tmp_path)
    gateway.table = Contended()
    gateway.restart()
    deploy(gateway, whole(network(2), token=1, now=clock()))
    yield gateway
    gateway.close()


def refuse_while_others_commit(gateway: InProcess, request: wire.Apply) -> wire.Refused:
    table = gateway.table
    assert isinstance(table, Contended)
    table.busy = True
    answer = send_refused(gateway, request)
    table.busy = table.refused = False
    return answer


def test_a_refused_change_leaves_forwarding_open_where_nothing_can_be_restored(contended_gateway: InProcess) -> None:
    (contended_gateway.state / "confirmed").write_text("{")
    contended_gateway.restart()
    assert "cannot be read" in welcome(contended_gateway).damage
    answer = refuse_while_others_commit(contended_gateway, whole(network(3), token=2, now=clock()))
    assert (answer.reason, answer.text) == ("nft", "bans4_32: delete element: No such file or directory")
    assert contended_gateway.table.read(clock()).elements == network(2).elements
    deploy(contended_gateway, whole(network(3), token=3, now=clock()))


def test_a_refused_second_change_leaves_the_first_ones_time(contended_gateway: InProcess) -> None:
    assert isinstance(contended_gateway.ask(step(network(2), network(3), token=2, now=clock(), within=30)), wire.Applied)
    assert refuse_while_others_commit(contended_gateway, step(network(3), network(4), token=3, now=clock())).reason == "nft"
    assert (runs(contended_gateway), welcome(contended_gateway).trial) == (text_of(network(3)), text_of(network(3)))
    contended_gateway.hands.passed += 31
    assert runs(contended_gateway) == text_of(network(2))


on_the_kernel = pytest.mark.parametrize("bench", [make_gateway_param("kernel")], indirect=True)


@on_the_kernel
def test_a_transaction_that_the_socket_does_not_take_has_changed_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.do(bench.table.commit, diff(EMPTY, Ruleset(sets={"up4": UP}, elements={"up4": {}})), clock())
    assert isinstance(bench.table, KernelTable)
    bench.table._netlink._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 14)
    monkeypatch.setattr(bench.table._netlink, "_set_buffer", lambda _option, _size: None)
    many = {(at + (10 << 24)).to_bytes(4): PLAIN for at in range(10_000)}
    with pytest.raises(CommitRefusedError, match="Message too long"):
        bench.do(bench.table.commit, Delta(elements={"up4": ElementChange(UP, {}, many)}), clock())
    assert bench.do(bench.table.read, clock()).elements == {"up4": {}}


@on_the_kernel
def test_sets_that_could_not_be_filled_are_gone_and_nothing_has_changed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Elements:
        raise TableError("netlink: Cannot allocate memory")

    assert isinstance(bench.table, KernelTable)
    monkeypatch.setattr(element_renewal, "LATE", -1)
    monkeypatch.setattr(bench.table._renewal, "_read", fail)
    wanted = Ruleset(sets={"bans4_32": TIMED}, elements={"bans4_32": {key("203.0.113.9"): PLAIN._replace(expires=clock() + 900)}})
    with pytest.raises(CommitRefusedError, match="Cannot allocate memory"):
        bench.do(bench.table.commit, diff(EMPTY, wanted), clock())
    assert not bench.do(bench.table.read, clock()).sets


@on_the_kernel
def test_elements_whose_final_counts_cannot_be_listened_for_stay(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_group: int) -> None:
        raise OSError(12, "Cannot allocate memory")

    counted, held = replace(UP, counter=True), {key("10.1.0.1"): PLAIN}
    bench.do(bench.table.commit, diff(EMPTY, Ruleset(sets={"up4": counted}, elements={"up4": held})), clock())
    assert isinstance(bench.table, KernelTable)
    monkeypatch.setattr(bench.table._notices._netlink, "join", fail)
    with pytest.raises(CommitRefusedError, match="Cannot allocate memory"):
        bench.do(bench.table.commit, Delta(elements={"up4": ElementChange(counted, held, {})}), clock())
    assert bench.do(bench.table.read, clock()).elements == {"up4": held}
