"""The ledger: final counts of deleted elements are reported until the portal has stored them, whatever happens to the agent and
its files.
"""

import os
import resource
import stat
from pathlib import Path

import pytest

from firewall import digest, owners
from gateway.counter_ledger import DeletedCountsLedger
from gateway.persistent_state import StateDirectory
from gateway.table import DeletedCounts
from tests.agent.rulesets import delta, network

OWNER = owners.encode_holding_id(4711)


def build_deleted_counts(octets: int) -> dict[str, DeletedCounts]:
    return {"up4": {(b"\x0a\x00\x00\x01", OWNER): (1, octets)}}


def octets(ledger: DeletedCountsLedger) -> list[int]:
    """Return the octets of each line that the portal has not acknowledged."""
    return [int.from_bytes(each.sets["up4"].octets) for each in ledger.pending_entries]


def make_ledger(directory: Path, *numbers: int) -> DeletedCountsLedger:
    ledger = DeletedCountsLedger(directory)
    for each in numbers:
        ledger.keep(build_deleted_counts(each), boot="boot", table=1)
    return ledger


def test_it_survives_the_agent_and_is_told_until_it_is_acknowledged(tmp_path: Path) -> None:
    first = make_ledger(tmp_path, 100, 200)
    again = DeletedCountsLedger(tmp_path)
    assert (again.name, again.pending_entries) == (first.name, first.pending_entries)
    again.acknowledge(again.name, again.pending_entries[0].number)
    assert octets(again) == [200]
    again.acknowledge(again.name, again.pending_entries[0].number)
    assert octets(again) == octets(DeletedCountsLedger(tmp_path)) == []


def test_acknowledged_twice_or_late_takes_nothing_else_and_another_ledgers_name_takes_nothing(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path, 100)
    number = ledger.last_entry_number
    ledger.acknowledge(ledger.name, number)
    ledger.keep(build_deleted_counts(200), boot="boot", table=1)
    for name, at in ((ledger.name, number), (ledger.name, 0), ("another", ledger.last_entry_number), ("", 1 << 62)):
        ledger.acknowledge(name, at)
        assert octets(ledger) == octets(DeletedCountsLedger(tmp_path)) == [200]


def test_the_number_of_a_reading_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    """Limit the file to ten octets. The numbers must not restart: the portal would not believe an agent that begins at one again."""
    ledger = make_ledger(tmp_path, 100)
    assert [ledger.allocate_reading_number() for _ in range(12)][-1] == 12
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        assert ledger.allocate_reading_number() == 13
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert DeletedCountsLedger(tmp_path).sequence >= 12


def test_a_number_that_was_told_once_is_never_given_to_something_else(tmp_path: Path) -> None:
    """The file loses its end, as in a power cut: a number that the portal knows must keep its meaning."""
    ledger = make_ledger(tmp_path, 100)
    file = tmp_path / "gone"
    before = file.read_bytes()
    ledger.keep(build_deleted_counts(200), boot="boot", table=1)
    told = ledger.last_entry_number
    file.write_bytes(before)
    again = make_ledger(tmp_path, 300)
    assert (again.name, octets(again)) == (ledger.name, [100, 300])
    assert again.last_entry_number > told


def test_a_file_cut_anywhere_keeps_the_lines_before_and_all_that_comes_after(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path, 100, 200)
    file = tmp_path / "gone"
    whole, name = file.read_bytes(), ledger.name
    ends = [at + 1 for at, octet in enumerate(whole) if octet == ord("\n")]
    for cut in range(len(whole)):
        file.write_bytes(whole[:cut])
        lines = sum(cut >= end - 1 for end in ends)  # the last newline may be missing
        expected = [100, 200][: max(lines - 1, 0)]
        assert octets(make_ledger(tmp_path, 300)) == octets(again := DeletedCountsLedger(tmp_path)) == [*expected, 300], cut
        assert (again.name == name) == (lines > 0), cut


@pytest.mark.parametrize("rubbish", [b"", b"\n", b"\xff\xfe\x00", b"null\n", b'00000000 {"name": 1}\n', b"[" * 10_000])
def test_files_full_of_rubbish_are_begun_anew(tmp_path: Path, rubbish: bytes) -> None:
    for name in ("gone", "readings"):
        (tmp_path / name).write_bytes(rubbish)
    ledger = make_ledger(tmp_path, 100)
    assert (octets(ledger), ledger.allocate_reading_number()) == ([100], 1)
    assert octets(DeletedCountsLedger(tmp_path)) == [100]


def test_what_half_of_was_written_when_the_disk_was_full_does_not_spoil_what_comes_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = make_ledger(tmp_path, 100)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "gone").stat().st_size + 20, limit[1]))
    try:
        ledger.keep(build_deleted_counts(200), boot="boot", table=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert "cannot be written: File too large" in caplog.text
    ledger.keep(build_deleted_counts(300), boot="boot", table=1)
    assert octets(ledger) == octets(DeletedCountsLedger(tmp_path)) == [100, 200, 300]


def test_readings_are_numbered_on_over_the_end_of_the_agent(tmp_path: Path) -> None:
    numbers = [DeletedCountsLedger(tmp_path).allocate_reading_number() for _ in range(3)]
    assert numbers == sorted(set(numbers))


def test_nobody_else_reads_any_file_of_the_agent_whatever_umask_it_was_started_with(tmp_path: Path) -> None:
    """Includes files that an older release left behind."""
    before = os.umask(0)
    try:
        (tmp_path / "readings").write_bytes(b"%020d" % 3)
        state = StateDirectory(tmp_path)
        state.raise_token(7)
        state.keep_sysctls({})
        state.write_checkpoint(network(2), digest.digest_ruleset(network(2)), 0)
        state.append([delta(network(2), network(3))], digest.digest_ruleset(network(3)), 0)
        state.ledger.keep(build_deleted_counts(100), boot="boot", table=1)
        state.ledger.allocate_reading_number()
        state.close()
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes.keys() == {"confirmed", "gone", "journal", "lock", "readings", "sysctls", "token"}
    assert set(modes.values()) == {0o600}
