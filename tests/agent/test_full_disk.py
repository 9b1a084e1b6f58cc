"""A full disk: no file is half-written, the error names the cause, reverting needs no space, and later everything works again."""

import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from firewall import digest, wire
from firewall.ruleset import EMPTY
from gateway import durable_files
from gateway.counter_ledger import DeletedCountsLedger
from gateway.persistent_state import Note, StateDirectory, StateError
from tests.agent.gateways import Served, clock
from tests.agent.requests import deploy, runs, send_refused, welcome
from tests.agent.rulesets import ban, delta, network, step, text_of, whole
from tests.agent.test_ledger import build_deleted_counts, make_ledger, octets

pytestmark = pytest.mark.kernel  # mounting needs root
NOW = 1_800_000_000


class Disk:
    """A small file system that can be filled to the last octet."""

    def __init__(self, at: Path) -> None:
        self.at = at
        at.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(at)], check=True)

    def fill(self) -> None:
        with (self.at / "ballast").open("wb", buffering=0) as ballast:
            for size in (4096, 1):
                try:
                    while ballast.write(bytes(size)):
                        pass
                except OSError:
                    continue

    def free(self) -> None:
        (self.at / "ballast").unlink()

    def remount(self, how: str) -> None:
        """how: ro or rw."""
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.at)], check=True)

    def unmount(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.at)], check=True)


@pytest.fixture
def disk(tmp_path: Path, kernel_is_there: str) -> Iterator[Disk]:
    if kernel_is_there:
        pytest.skip(kernel_is_there)
    made = Disk(tmp_path / "disk")
    yield made
    made.unmount()


@pytest.fixture(params=[False, True], ids=["served", "served on the kernel"])
def gateway(request: pytest.FixtureRequest, disk: Disk) -> Iterator[Served]:
    made = Served(disk.at / "state", on_kernel=request.param)
    yield made
    made.close()


def test_a_change_that_cannot_be_written_down_is_not_confirmed_and_is_taken_back(gateway: Served, disk: Disk) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    journal = deployed_once_more(gateway)
    change = step(network(3), network(60), token=3, now=clock(), within=5)
    disk.fill()
    applied = gateway.ask(change)
    assert isinstance(applied, wire.Applied), applied
    answer = send_refused(gateway, wire.Confirm(3, change.target))
    assert answer.reason == "state"
    assert "journal cannot be written: No space left on device; nothing was confirmed. Make room" in answer.text
    assert (gateway.state / "journal").read_bytes() == journal
    gateway.wait_for_log("it was not confirmed within 5 s")
    assert runs(gateway) == text_of(network(3))
    disk.free()
    deploy(gateway, step(network(3), network(60), token=4, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(network(60))


def deployed_once_more(gateway: Served) -> bytes:
    deploy(gateway, step(network(2), network(3), token=2, now=clock()))
    return (gateway.state / "journal").read_bytes()


def test_a_first_ruleset_is_not_tried_if_the_way_back_cannot_be_written_down(gateway: Served, disk: Disk) -> None:
    disk.fill()
    answer = send_refused(gateway, whole(network(4), token=1, now=clock()))
    assert answer.reason == "state"
    assert "trial cannot be written: No space left on device" in answer.text
    assert sorted(path.name for path in gateway.state.iterdir()) == ["gone", "lock", "token"]
    assert runs(gateway) == text_of(EMPTY)
    disk.free()
    deploy(gateway, whole(network(4), token=2, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(network(4))


def test_a_first_ruleset_that_cannot_be_written_down_leaves_nothing(gateway: Served, disk: Disk) -> None:
    assert isinstance(gateway.ask(whole(network(400), token=1, now=clock())), wire.Applied)
    disk.fill()
    answer = gateway.ask_anew(wire.Confirm(1, text_of(network(400))))
    assert isinstance(answer, wire.Refused), answer
    assert "confirmed cannot be written: No space left on device" in answer.text
    assert isinstance(gateway.ask(wire.Revert(1)), wire.Reverted)
    assert sorted(path.name for path in gateway.state.iterdir()) == ["gone", "lock", "token"]
    disk.free()
    deploy(gateway, whole(network(4), token=2, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(network(4))


def test_tokens_go_on_being_remembered(gateway: Served, disk: Disk) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    disk.fill()
    assert isinstance(gateway.ask(step(network(2), network(3), token=7, now=clock())), wire.Applied)
    gateway.restart()
    assert welcome(gateway).token == 7
    assert runs(gateway) == text_of(network(2))


def test_a_disk_that_becomes_read_only_is_told_before_a_change_fails(gateway: Served, disk: Disk) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    assert welcome(gateway).disk == ""
    own, at = (
        ["nsenter", f"--mount=/proc/{gateway.process.pid}/ns/mnt"],
        str(gateway.state),
    )  # the agent has its own view of what is mounted
    subprocess.run([*own, "mount", "--bind", at, at], check=True)
    subprocess.run([*own, "mount", "-o", "remount,bind,ro", at], check=True)
    try:
        assert welcome(gateway).disk.endswith("cannot be written: Read-only file system")
    finally:
        subprocess.run([*own, "umount", "--lazy", at], check=True)
    assert welcome(gateway).disk == ""


def test_an_agent_starts_on_a_read_only_disk_and_stores_again_when_it_can_be_written(gateway: Served, disk: Disk) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    gateway.kill()
    disk.remount("ro")
    gateway.start()
    assert runs(gateway) == text_of(network(2))
    assert welcome(gateway).disk.endswith("token cannot be written: Read-only file system")
    change = step(network(2), network(3), token=2, now=clock())
    answer = send_refused(gateway, change)
    assert (answer.reason, "token cannot be written: Read-only file system" in answer.text) == ("state", True)
    inside = ["nsenter", f"--mount=/proc/{gateway.process.pid}/ns/mnt"]  # the agent has its own view of what is mounted
    subprocess.run([*inside, "mount", "-o", "remount,rw", str(disk.at)], check=True)
    assert welcome(gateway).disk == ""
    deploy(gateway, change)
    gateway.restart()
    assert runs(gateway) == text_of(network(3))


def test_restore_loads_what_was_confirmed_from_a_read_only_disk(disk: Disk) -> None:
    state = StateDirectory(disk.at / "state")
    state.write_checkpoint(network(2), digest.digest_ruleset(network(2)), NOW)
    state.raise_token(7)
    state.close()
    disk.remount("ro")
    again = StateDirectory(disk.at / "state")
    confirmed = again.load()
    assert confirmed and confirmed.ruleset == network(2)
    assert again.token == 7
    with pytest.raises(StateError, match="another agent is using"):
        StateDirectory(disk.at / "state")


def test_the_first_start_of_all_on_a_read_only_disk_says_why_it_fails(disk: Disk) -> None:
    (disk.at / "state").mkdir()
    disk.remount("ro")
    with pytest.raises(StateError, match="Read-only file system"):
        StateDirectory(disk.at / "state")


def test_counts_are_kept_in_memory_while_the_disk_is_read_only(disk: Disk) -> None:
    ledger = make_ledger(disk.at, 100)
    disk.remount("ro")
    ledger.acknowledge(ledger.name, ledger.last_entry_number)
    ledger.keep(build_deleted_counts(200), boot="boot", table=1)
    assert octets(ledger) == [200]
    disk.remount("rw")
    ledger.keep(build_deleted_counts(300), boot="boot", table=1)
    assert octets(ledger) == octets(DeletedCountsLedger(disk.at)) == [200, 300]


def test_agents_that_start_on_a_read_only_disk_use_no_number_again(disk: Disk) -> None:
    ledger = make_ledger(disk.at, 100)
    ledger.allocate_reading_number()
    disk.remount("ro")
    entries, readings = list[int](), list[int]()
    for _start in range(3):
        ledger.keep(build_deleted_counts(200), boot="boot", table=1)
        entries.append(ledger.last_entry_number)
        readings += [ledger.allocate_reading_number() for _ in range(2)]
        ledger = DeletedCountsLedger(disk.at)
    disk.remount("rw")
    ledger = DeletedCountsLedger(disk.at)
    entries, readings = [*entries, ledger.last_entry_number], [*readings, ledger.allocate_reading_number()]
    assert entries == sorted(set(entries))
    assert readings == sorted(set(readings))


def test_an_agent_does_not_start_without_room_for_its_token(disk: Disk) -> None:
    (disk.at / "state").mkdir()
    disk.fill()
    with pytest.raises(StateError, match="No space left on device"):
        StateDirectory(disk.at / "state")
    disk.free()
    state = StateDirectory(disk.at / "state")
    assert state.token == 0
    state.close()


def test_a_token_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    """Limit the file to ten octets: the worst torn write."""
    state = StateDirectory(tmp_path)
    state.raise_token(12_345_678_901)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(StateError, match="token cannot be written: File too large"):
            state.raise_token(98_765_432_109_876_543)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert state.token == 12_345_678_901
    state.close()
    assert StateDirectory(tmp_path).token == 12_345_678_901


@pytest.mark.parametrize("room", [0, 1, 100, 800])
def test_a_write_that_is_cut_off_leaves_what_was_confirmed_before(tmp_path: Path, room: int) -> None:
    state = StateDirectory(tmp_path)
    state.write_checkpoint(network(2), digest.digest_ruleset(network(2)), NOW)
    state.append([delta(network(2), network(3))], digest.digest_ruleset(network(3)), NOW)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "journal").stat().st_size + room, limits[1]))
    try:
        with pytest.raises(StateError, match="nothing was confirmed"):
            state.append([delta(network(3), network(90, ban("203.0.113.9/32")))], 1, NOW)
        with pytest.raises(StateError, match="nothing was confirmed"):
            state.write_checkpoint(network(90), 1, NOW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    state.close()
    confirmed = StateDirectory(tmp_path).load()
    assert confirmed
    assert confirmed.ruleset == network(3)
    assert not (tmp_path / "confirmed.new").exists()


def fail_to_sync(_: Path) -> None:
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize("earlier", [False, True], ids=["the first", "a later one"])
def test_a_checkpoint_whose_name_does_not_reach_the_disk_is_not_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, earlier: bool
) -> None:
    state = StateDirectory(tmp_path)
    if earlier:
        state.write_checkpoint(network(2), digest.digest_ruleset(network(2)), NOW)
        state.append([delta(network(2), network(3))], digest.digest_ruleset(network(3)), NOW)
    with monkeypatch.context() as failing:
        failing.setattr(durable_files, "sync_directory", fail_to_sync)
        with pytest.raises(StateError, match="Input/output error; nothing was confirmed"):
            state.write_checkpoint(network(9), digest.digest_ruleset(network(9)), NOW)
    confirmed = state.load()
    assert (confirmed.ruleset if confirmed else EMPTY) == (network(3) if earlier else EMPTY)
    if earlier:
        state.append([delta(network(3), network(4))], digest.digest_ruleset(network(4)), NOW)
        reloaded = state.load()
        assert reloaded and reloaded.ruleset == network(4)
    assert not {"confirmed.new", "confirmed.before"} & {path.name for path in tmp_path.iterdir()}


def test_a_note_whose_name_does_not_reach_the_disk_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = StateDirectory(tmp_path)
    monkeypatch.setattr(durable_files, "sync_directory", fail_to_sync)
    with pytest.raises(StateError):
        state.write_note(Note.TRIAL, "empty")
    assert state.read_note(Note.TRIAL) is None


def test_a_link_that_a_killed_agent_left_does_no_harm(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.write_checkpoint(network(2), digest.digest_ruleset(network(2)), NOW)
    (tmp_path / "confirmed.before").hardlink_to(tmp_path / "confirmed")
    state.write_checkpoint(network(3), digest.digest_ruleset(network(3)), NOW)
    confirmed = state.load()
    assert confirmed and confirmed.ruleset == network(3)
    assert not (tmp_path / "confirmed.before").exists()
