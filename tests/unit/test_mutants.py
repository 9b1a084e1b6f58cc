"""Faults that `script/test --mutants` puts into the code must still fit it."""

import pytest

from tests.mutants.faults import MUTANTS
from tests.mutants.mutant import Mutant, MutantError


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_fits_the_code_and_names_a_test_that_is_there(mutant: Mutant) -> None:
    mutant.check()


def test_faults_have_names_of_their_own() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_a_fault_whose_place_is_gone_is_told() -> None:
    gone = Mutant("gone", "manage.py", "no such line", "", "tests/unit/test_mutants.py::test_faults_have_names_of_their_own")
    with pytest.raises(MutantError, match="exactly once"):
        gone.check()
