"""Which program an agent starts with, whatever happened before."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gateway.programs.choice import ProgramChoice, ProgramTrial, StartConditions, choose_start

NAMES = st.sampled_from(["", "a", "b", "c"])
TRIALS = st.builds(ProgramTrial, NAMES, st.integers(1, 3600), st.sampled_from(["boot 1", "boot 2"]), st.booleans())
CHOICES = st.builds(ProgramChoice, st.sampled_from(["package", "older package"]), NAMES, st.none() | TRIALS)
CONDITIONS = st.builds(
    StartConditions,
    st.just("package"),
    st.sampled_from(["boot 1", "boot 2"]),
    st.booleans(),
    st.frozensets(st.sampled_from(["a", "b", "c"])),
)
SOUND = StartConditions("package", "boot 1", allowed=True, intact=frozenset("abc"))


@given(CHOICES, CONDITIONS)
def test_only_the_package_or_an_intact_program_starts(choice: ProgramChoice, found: StartConditions) -> None:
    assert choose_start(choice, found).digest in found.intact | {"", found.packaged}


@given(CHOICES, CONDITIONS)
def test_what_is_not_allowed_or_older_than_the_package_never_starts(choice: ProgramChoice, found: StartConditions) -> None:
    if not found.allowed or choice.packaged != found.packaged:
        start = choose_start(choice, found)
        assert (start.digest, start.is_trial, start.choice.kept, start.choice.trial) == ("", False, "", None)


@given(CHOICES, CONDITIONS, CONDITIONS)
def test_a_trial_starts_once(choice: ProgramChoice, found: StartConditions, later: StartConditions) -> None:
    start = choose_start(choice, found)
    again = choose_start(start.choice, later)
    assert not again.is_trial
    if start.is_trial:
        assert again.choice.failed == start.digest
        assert again.choice.problem


def test_a_trial_that_failed_is_told_even_if_the_kept_program_is_damaged_too() -> None:
    start = choose_start(ProgramChoice("package", "kept", ProgramTrial("a", 60, "boot 1")), SOUND)
    again = choose_start(start.choice, replace(SOUND, intact=frozenset()))
    assert (again.digest, again.choice.kept, again.choice.failed) == ("", "", "a")


@given(CHOICES, CONDITIONS)
def test_after_a_trial_that_failed_the_kept_program_starts(choice: ProgramChoice, found: StartConditions) -> None:
    start = choose_start(choice, found)
    if start.is_trial:
        assert choose_start(start.choice, found).digest == (choice.kept if choice.kept in found.intact else "")


@given(CHOICES, CONDITIONS)
def test_a_confirmed_trial_starts_from_then_on(choice: ProgramChoice, found: StartConditions) -> None:
    start = choose_start(choice, found)
    if start.is_trial:
        kept = choose_start(start.choice.keep(), found)
        assert (kept.digest, kept.is_trial) == (start.digest, False)


@given(CHOICES, CONDITIONS)
def test_a_start_that_decides_nothing_new_changes_nothing(choice: ProgramChoice, found: StartConditions) -> None:
    settled = choose_start(choose_start(choice, found).choice, found)
    assert choose_start(settled.choice, found) == settled


def test_a_trial_of_an_earlier_boot_does_not_begin() -> None:
    choice = ProgramChoice("package").begin_trial(ProgramTrial("a", 60, "boot 0"))
    start = choose_start(choice, SOUND)
    assert (start.digest, start.choice.failed) == ("", "a")
    assert choose_start(replace(choice, trial=ProgramTrial("a", 60, "boot 1")), SOUND).is_trial
