"""State on disk: it survives every torn write, and damage is detected."""

import json
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firewall import digest
from firewall.ruleset import Ruleset
from gateway.persistent_state import StateDirectory, StateError
from tests.agent.rulesets import ban, delta, network
from tests.example_counts import count_examples

NOW = 1_800_000_000


def digest_of(ruleset: Ruleset) -> int:
    return digest.digest_ruleset(ruleset)


def confirm_all(directory: Path, steps: list[Ruleset]) -> None:
    state = StateDirectory(directory)
    state.write_checkpoint(steps[0], digest_of(steps[0]), NOW)
    for before, after in pairwise(steps):
        state.append([delta(before, after)], digest_of(after), NOW)
    state.close()


def load_ruleset(directory: Path) -> Ruleset | None:
    state = StateDirectory(directory)
    try:
        confirmed = state.load()
        return confirmed.ruleset if confirmed else None
    finally:
        state.close()


STEPS = [network(2), network(3), network(3, ban("203.0.113.9/32", "scans", NOW + 60)), network(1)]


def test_a_new_directory_holds_nothing(tmp_path: Path) -> None:
    assert load_ruleset(tmp_path / "new" / "state") is None


def test_checkpoint_and_journal_make_the_last_confirmed_ruleset(tmp_path: Path) -> None:
    confirm_all(tmp_path, STEPS)
    assert load_ruleset(tmp_path) == STEPS[-1]


@settings(max_examples=count_examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(cut=st.integers(1, 400))
def test_a_torn_last_line_counts_for_nothing_and_is_written_over(tmp_path: Path, cut: int) -> None:
    confirm_all(tmp_path, STEPS)
    journal = tmp_path / "journal"
    whole = journal.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    journal.write_bytes(whole[: max(len(whole) - cut, last)])
    state = StateDirectory(tmp_path)
    confirmed = state.load()
    assert confirmed
    assert confirmed.ruleset == STEPS[2]
    state.append([delta(STEPS[2], network(5))], digest_of(network(5)), NOW)
    state.close()
    assert load_ruleset(tmp_path) == network(5)


def test_a_damaged_line_in_the_middle_is_an_error(tmp_path: Path) -> None:
    confirm_all(tmp_path, STEPS)
    octets = bytearray((tmp_path / "journal").read_bytes())
    octets[40] ^= 1
    (tmp_path / "journal").write_bytes(octets)
    with pytest.raises(StateError, match="line 1 of the journal is damaged"):
        load_ruleset(tmp_path)


@pytest.mark.parametrize("octets", [b"", b"{}", b"[]", b"null", b'{"number":1', b"\xff\xfe", b'{"ruleset":{"chains":3}}'])
def test_a_damaged_checkpoint_is_an_error(tmp_path: Path, octets: bytes) -> None:
    confirm_all(tmp_path, STEPS)
    (tmp_path / "confirmed").write_bytes(octets)
    with pytest.raises(StateError, match="cannot be read"):
        load_ruleset(tmp_path)


def test_a_checkpoint_that_is_not_what_was_confirmed_is_an_error(tmp_path: Path) -> None:
    confirm_all(tmp_path, [network(2)])
    text = (tmp_path / "confirmed").read_text()
    (tmp_path / "confirmed").write_text(text.replace('"policy":"drop"', '"policy":"accept"', 1))
    with pytest.raises(StateError, match="does not match its digest"):
        load_ruleset(tmp_path)


def test_a_journal_of_an_older_checkpoint_is_passed_over(tmp_path: Path) -> None:
    confirm_all(tmp_path, STEPS)
    state = StateDirectory(tmp_path)
    state.write_checkpoint(network(4), digest_of(network(4)), NOW)
    state.close()
    assert (tmp_path / "journal").stat().st_size
    assert load_ruleset(tmp_path) == network(4)


def test_a_checkpoint_that_was_not_finished_leaves_the_one_before(tmp_path: Path) -> None:
    confirm_all(tmp_path, STEPS)
    (tmp_path / "confirmed.new").write_bytes(b'{"number":')
    assert load_ruleset(tmp_path) == STEPS[-1]


def test_the_highest_token_is_kept(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.raise_token(12)
    state.close()
    assert StateDirectory(tmp_path).token == 12


def test_a_damaged_token_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("soon")
    with pytest.raises(StateError, match="token is damaged"):
        StateDirectory(tmp_path)


def test_two_agents_cannot_share_a_directory(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    with pytest.raises(StateError, match="another agent"):
        StateDirectory(tmp_path)
    state.close()


def test_a_long_journal_asks_for_a_checkpoint(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.write_checkpoint(STEPS[0], digest_of(STEPS[0]), NOW)
    there, back = delta(network(2), network(600)), delta(network(600), network(2))
    rounds = 0
    while not state.wants_checkpoint:
        state.append([there, back] * 5, digest_of(network(2)), NOW)
        rounds += 1
    assert rounds > 3
    state.write_checkpoint(STEPS[0], digest_of(STEPS[0]), NOW)
    assert not state.wants_checkpoint
    state.close()


def test_what_a_release_confirmed_that_computed_digests_otherwise_is_still_what_the_gateway_boots_with(tmp_path: Path) -> None:
    """That release's digest means nothing here; the next checkpoint has a valid one."""
    state = StateDirectory(tmp_path)
    state.write_checkpoint(network(2), digest.digest_ruleset(network(2)), NOW)
    state.append([delta(network(2), network(3))], digest.digest_ruleset(network(3)), NOW)
    state.close()
    for name in ("confirmed", "journal"):
        written_by_another_release(tmp_path / name)
    state = StateDirectory(tmp_path)
    found = state.load()
    assert found is not None and found.ruleset == network(3) and found.digest == digest.digest_ruleset(network(3))
    assert state.wants_checkpoint
    state.write_checkpoint(found.ruleset, found.digest, NOW)
    state.close()
    state = StateDirectory(tmp_path)
    assert state.load() == found and not state.wants_checkpoint
    state.close()


def written_by_another_release(path: Path) -> None:
    checksum, _, text = path.read_bytes().partition(b" ") if path.name == "journal" else (b"", b"", path.read_bytes())
    record = json.loads(text)
    del record["way"]
    record["digest"] = "ab" * 32
    text = json.dumps(record, separators=(",", ":")).encode()
    path.write_bytes(b"%08x %s\n" % (crc32(text), text) if checksum else text)
