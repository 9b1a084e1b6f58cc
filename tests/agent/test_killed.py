"""SIGKILL at any moment: afterwards the last confirmed ruleset runs, complete. Before the first, what ran before the trial does."""

import subprocess
from collections.abc import Collection

import pytest

from firewall import digest, wire
from firewall.flows import Flow, FlowFilter
from firewall.ruleset import EMPTY, Element, Ruleset
from gateway.kernel import KernelTable
from gateway.memory_table import FakeKernel
from gateway.restore import CLOSED
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, InProcess, OnKernel, Served, clock
from tests.agent.requests import deploy, runs, send_refused, welcome
from tests.agent.rulesets import ban, key, network, step, text_of, whole
from tests.agent.test_cutting import ALL, IN, alive, apply, open_connections, open_one

BEFORE, AFTER = network(40), network(60, ban("203.0.113.9/32", "scans"))


def send(gateway: Served, request: wire.Request, share: float = 1.0) -> None:
    """Send the request, or a part of it, without waiting."""
    octets = b"".join(wire.iter_lines(99, request))
    gateway.client.send(octets[: int(len(octets) * share)])


@restrict_to_gateways("served", "served on the kernel")
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_killed_in_an_apply(gateway: Served, share: float) -> None:
    deploy(gateway, whole(BEFORE, token=1, now=clock()))
    for _ in range(3):
        send(gateway, step(BEFORE, AFTER, token=2, now=clock()), share)
        gateway.restart()
        assert runs(gateway) == text_of(BEFORE)


@restrict_to_gateways("served", "served on the kernel")
def test_killed_after_an_apply(gateway: Served) -> None:
    deploy(gateway, whole(BEFORE, token=1, now=clock()))
    assert isinstance(gateway.ask(step(BEFORE, AFTER, token=2, now=clock())), wire.Applied)
    gateway.restart()
    assert runs(gateway) == text_of(BEFORE)


@restrict_to_gateways("served", "served on the kernel")
def test_killed_in_a_confirm(gateway: Served) -> None:
    """The confirm may have succeeded or not, but nothing in between."""
    deploy(gateway, whole(BEFORE, token=1, now=clock()))
    running = BEFORE
    for token in range(2, 6):
        wanted = AFTER if running == BEFORE else BEFORE
        assert isinstance(gateway.ask(step(running, wanted, token=token, now=clock())), wire.Applied)
        send(gateway, wire.Confirm(token, text_of(wanted)))
        gateway.restart()
        assert runs(gateway) in (text_of(running), text_of(wanted))
        running = wanted if runs(gateway) == text_of(wanted) else running


@restrict_to_gateways("served", "served on the kernel")
def test_killed_after_a_confirm(gateway: Served) -> None:
    deploy(gateway, whole(BEFORE, token=1, now=clock()))
    deploy(gateway, step(BEFORE, AFTER, token=2, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(AFTER)


any_that_outlives = restrict_to_gateways("in memory", "kernel", "served on the kernel")


def try_first(gateway: AnyGateway, token: int) -> None:
    """Apply a ruleset, while nothing has been confirmed."""
    assert isinstance(gateway.ask(whole(BEFORE, token=token, now=clock())), wire.Applied)


def close_forwarding(gateway: InProcess | OnKernel | Served) -> None:
    """Close forwarding as the first unit at boot does, and start the agent after it."""
    if isinstance(gateway, InProcess):
        gateway.table.meddle(CLOSED)
    else:
        gateway.nft("add table inet netzwart; add chain inet netzwart forward { type filter hook forward priority 0; policy drop; }")
    gateway.restart()


@any_that_outlives
def test_killed_after_the_very_first_apply(gateway: AnyGateway) -> None:
    for token in (1, 2):
        try_first(gateway, token)
        gateway.restart()
        assert runs(gateway) == text_of(EMPTY)
    deploy(gateway, whole(BEFORE, token=3, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(BEFORE)


@any_that_outlives
def test_killed_after_the_very_first_apply_where_forwarding_was_closed(gateway: InProcess | OnKernel | Served) -> None:
    close_forwarding(gateway)
    for token in (1, 2):
        try_first(gateway, token)
        gateway.restart()
        assert runs(gateway) == text_of(CLOSED)


@any_that_outlives
def test_killed_after_a_second_apply_before_anything_was_confirmed(gateway: AnyGateway) -> None:
    try_first(gateway, 1)
    assert isinstance(gateway.ask(step(BEFORE, AFTER, token=2, now=clock())), wire.Applied)
    gateway.restart()
    assert runs(gateway) == text_of(EMPTY)


@restrict_to_gateways("served on the kernel")
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_killed_in_the_very_first_apply(gateway: Served, share: float) -> None:
    for _ in range(3):
        send(gateway, whole(BEFORE, token=1, now=clock()), share)
        gateway.restart()
        assert runs(gateway) == text_of(EMPTY)


@restrict_to_gateways("served on the kernel")
def test_what_restores_by_hand_takes_the_very_first_ruleset_back_too_and_leaves_other_tables(gateway: Served) -> None:
    gateway.nft("add table inet other")
    try_first(gateway, 1)
    gateway.kill()
    subprocess.run(gateway.command("restore", "--state", str(gateway.state)), capture_output=True, check=True)
    left = gateway.nft("list", "table", "inet", "netzwart")
    assert "chain" not in left and "set " not in left
    assert "table inet other" in gateway.nft("list", "tables")


@restrict_to_gateways("served on the kernel")
def test_what_a_trials_elements_counted_is_kept_by_a_restore_by_hand(gateway: Served) -> None:
    deploy(gateway, whole(THREE, token=1, now=clock()))
    assert isinstance(gateway.ask(step(THREE, network(4), token=2, now=clock())), wire.Applied)
    gateway.kill()
    gateway.nft("delete element inet netzwart up4 { 10.1.0.4 }; add element inet netzwart up4 { 10.1.0.4 counter packets 7 bytes 700 }")
    subprocess.run(gateway.command("restore", "--state", str(gateway.state)), capture_output=True, check=True)
    gateway.start()
    reading = gateway.ask(wire.Counters("", 0))
    assert isinstance(reading, wire.Reading)
    assert [list(each.sets) for each in reading.gone] == [["up4"]]


@restrict_to_gateways("served on the kernel")
def test_forwarding_that_is_closed_at_boot_stays_closed_after_a_power_cut_in_the_very_first_trial(gateway: Served) -> None:
    try_first(gateway, 1)
    gateway.kill()
    gateway.nft("flush", "ruleset")
    gateway.nft("add table inet netzwart; add chain inet netzwart forward { type filter hook forward priority 0; policy drop; }")
    for _ in range(2):
        subprocess.run(gateway.command("restore", "--state", str(gateway.state)), capture_output=True, check=True)
        assert "policy drop" in gateway.nft("list", "chain", "inet", "netzwart", "forward")
    gateway.start()
    deploy(gateway, whole(BEFORE, token=2, now=clock()))


@restrict_to_gateways("kernel")
def test_killed_after_a_first_apply_that_was_refused(gateway: OnKernel) -> None:
    """The gateway has rules and a new state directory: a refusal changes nothing, so the restart does not either."""
    gateway.nft("add table inet netzwart; add chain inet netzwart forward; add chain inet netzwart old")
    gateway.restart()
    assert send_refused(gateway, wire.Apply(1, clock(), "", text_of(AFTER), None, BEFORE, 60)).reason == "digest"
    gateway.restart()
    assert "chain old" in gateway.nft("list", "table", "inet", "netzwart")


@any_that_outlives
def test_a_confirmed_ruleset_is_no_longer_on_trial_whatever_is_on_the_disk(gateway: AnyGateway) -> None:
    """The agent may be killed after the ruleset was written, and before it has forgotten the trial."""
    try_first(gateway, 1)
    trial = (gateway.state / "trial").read_bytes()
    assert isinstance(gateway.ask_anew(wire.Confirm(1, text_of(BEFORE))), wire.Confirmed)
    assert not (gateway.state / "trial").exists()
    (gateway.state / "trial").write_bytes(trial)
    gateway.restart()
    assert runs(gateway) == text_of(BEFORE)
    assert not (gateway.state / "trial").exists()


def damage_what_is_confirmed(gateway: InProcess | OnKernel | Served) -> None:
    """Confirm a ruleset, damage it on the disk, and start the machine anew: forwarding is closed."""
    deploy(gateway, whole(BEFORE, token=1, now=clock()))
    (gateway.state / "confirmed").write_text("{")
    if isinstance(gateway, InProcess):
        gateway.table.meddle(EMPTY)
    else:
        gateway.nft("flush ruleset")
    gateway.restart()
    assert "cannot be read" in welcome(gateway).damage
    assert runs(gateway) == text_of(CLOSED)


@any_that_outlives
def test_where_what_is_confirmed_is_damaged_forwarding_is_closed_again_after_a_trial(gateway: InProcess | OnKernel | Served) -> None:
    damage_what_is_confirmed(gateway)
    assert isinstance(gateway.ask(whole(AFTER, token=2, now=clock())), wire.Applied)
    assert send_refused(gateway, wire.Revert(2)).text.endswith("deploy from the portal; forwarding is closed")
    assert runs(gateway) == text_of(CLOSED)
    assert isinstance(gateway.ask(whole(AFTER, token=3, now=clock())), wire.Applied)
    gateway.restart()
    assert "cannot be read" in welcome(gateway).damage
    assert runs(gateway) == text_of(CLOSED)
    deploy(gateway, whole(AFTER, token=4, now=clock()))
    assert not (gateway.state / "trial").exists()
    gateway.restart()
    assert (runs(gateway), welcome(gateway).damage) == (text_of(AFTER), "")


@restrict_to_gateways("in memory")
def test_what_the_kernel_refused_at_the_start_does_not_keep_a_trial_from_ending(gateway: InProcess) -> None:
    loose = Ruleset({"up": network(1).chains["up"]})  # its sets are missing
    gateway._directory.write_checkpoint(loose, digest.digest_ruleset(loose), clock())
    gateway.restart()
    for token in (2, 3):
        assert runs(gateway) == text_of(CLOSED)
        assert isinstance(gateway.ask(whole(AFTER, token=token, now=clock())), wire.Applied)
        gateway.restart() if token == 2 else send_refused(gateway, wire.Revert(3))
    assert "the kernel refuses" in welcome(gateway).damage
    assert runs(gateway) == text_of(CLOSED)


class KilledError(BaseException):
    """The agent is killed at this moment."""


class MortalFake(FakeKernel):
    """A table in memory. dying: its agent is killed when it lists connections."""

    dying = False

    def list_flows(self, toward: Collection[FlowFilter] | None = None) -> list[Flow]:
        if self.dying:
            raise KilledError
        return super().list_flows(toward)


class MortalKernel(KernelTable):
    """The same on the kernel."""

    dying = False

    def list_flows(self, toward: Collection[FlowFilter] | None = None) -> list[Flow]:
        if self.dying:
            raise KilledError
        return super().list_flows(toward)


def open_mortal(gateway: InProcess | OnKernel) -> None:
    """Open connections of three members, on a gateway whose agent can be killed when it lists them."""
    if isinstance(gateway, OnKernel):
        gateway.build_table = MortalKernel
    else:
        gateway.table = MortalFake()
    gateway.restart()
    open_connections(gateway)


def kill_before_the_cut(gateway: InProcess | OnKernel, target: Ruleset) -> None:
    """Confirm, and kill the agent when that is on the disk and no connection has been cut yet."""
    assert isinstance(gateway.table, MortalFake | MortalKernel)
    gateway.table.dying = True
    with pytest.raises(KilledError):
        gateway.ask_anew(wire.Confirm(2, text_of(target)))
    gateway.table.dying = False
    assert alive(gateway) == ALL.keys()


in_process = restrict_to_gateways("in memory", "kernel")
THREE, WITHDRAWN = network(3), network(3, forwards=False)


@in_process
def test_killed_before_the_connections_of_a_withdrawn_forward_were_cut(gateway: InProcess | OnKernel) -> None:
    open_mortal(gateway)
    apply(gateway, THREE, WITHDRAWN)
    kill_before_the_cut(gateway, WITHDRAWN)
    gateway.restart()
    assert runs(gateway) == text_of(WITHDRAWN)
    assert alive(gateway) == ALL.keys() - {"in"}
    open_one(gateway, IN)
    gateway.restart()
    assert alive(gateway) == ALL.keys()  # it is done once: what comes later is not the last confirmation's


@in_process
def test_killed_before_a_confirmation_was_stored_cuts_nothing(gateway: InProcess | OnKernel) -> None:
    """The last line of the journal is torn, as by a kill while it was written."""
    open_mortal(gateway)
    apply(gateway, THREE, WITHDRAWN)
    kill_before_the_cut(gateway, WITHDRAWN)
    journal = gateway.state / "journal"
    journal.write_bytes(journal.read_bytes()[:-1])
    gateway.restart()
    assert runs(gateway) == text_of(THREE)
    assert alive(gateway) == ALL.keys()
    assert not (gateway.state / "cut").exists()


@in_process
def test_killed_before_the_connections_of_a_trial_that_was_taken_back_were_cut(gateway: InProcess | OnKernel) -> None:
    open_mortal(gateway)
    deploy(gateway, step(THREE, WITHDRAWN, token=2, now=clock()))
    apply(gateway, WITHDRAWN, THREE, token=3)
    open_one(gateway, IN)
    assert isinstance(gateway.table, MortalFake | MortalKernel)
    gateway.table.dying = True
    with pytest.raises(KilledError):
        gateway.ask(wire.Revert(3))
    gateway.table.dying = False
    assert alive(gateway) == ALL.keys()
    gateway.restart()
    assert alive(gateway) == ALL.keys() - {"in"}
    assert not (gateway.state / "cut").exists()


@restrict_to_gateways("in memory")
def test_killed_before_the_connections_of_former_members_were_cut_after_a_whole_ruleset(gateway: InProcess) -> None:
    """Another program has changed the table, so the journal does not say what this change takes away."""
    open_mortal(gateway)
    stranger = {**THREE.elements["up4"], key("10.9.9.9"): Element()}
    gateway.table.meddle(Ruleset(THREE.chains, THREE.sets, {**THREE.elements, "up4": stranger}))
    assert isinstance(gateway.ask(whole(network(1), token=2, now=clock())), wire.Applied)
    kill_before_the_cut(gateway, network(1))
    assert not (gateway.state / "journal").exists()
    gateway.restart()
    assert alive(gateway) == {"out", "out6"}


@restrict_to_gateways("in memory")
@pytest.mark.parametrize("octets", [b"", b"{", b"[]", b'["", []]', b'["", [{"elements": 3}]]'])
def test_a_damaged_note_of_what_is_to_be_cut_is_as_none(gateway: InProcess, octets: bytes) -> None:
    open_mortal(gateway)
    apply(gateway, THREE, WITHDRAWN)
    kill_before_the_cut(gateway, WITHDRAWN)
    (gateway.state / "cut").write_bytes(octets.replace(b'""', f'"{text_of(WITHDRAWN)}"'.encode()))
    gateway.restart()
    assert runs(gateway) == text_of(WITHDRAWN)
    assert alive(gateway) == ALL.keys()


@restrict_to_gateways("in memory")
def test_a_confirmation_leaves_no_note_of_what_it_has_cut(gateway: InProcess) -> None:
    open_connections(gateway)
    deploy(gateway, step(THREE, WITHDRAWN, token=2, now=clock()))
    assert alive(gateway) == ALL.keys() - {"in"}
    assert not (gateway.state / "cut").exists()
