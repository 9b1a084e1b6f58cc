"""Faults that `script/test --mutants` puts into the code must still fit it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.faults import MUTANTS
from tests.mutants.mutant import ROOT, Mutant, MutantError


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_fits_the_code_and_names_a_test_that_is_there(mutant: Mutant) -> None:
    mutant.check()


def test_faults_use_no_name_that_does_not_exist(tmp_path: Path) -> None:
    """A fault with an unknown name breaks the code in another way than it says, and its test may fail for that."""
    for number, mutant in enumerate(MUTANTS):
        text = (ROOT / mutant.file).read_text().replace(mutant.before, mutant.after)
        if mutant.file.endswith(".py"):
            (tmp_path / f"m{number}.py").write_text(text)
    check = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "--output-format", "concise", str(tmp_path)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_faults_have_names_of_their_own() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_a_fault_whose_place_is_gone_is_told() -> None:
    gone = Mutant("gone", "manage.py", "no such line", "", "tests/unit/test_mutants.py::test_faults_have_names_of_their_own")
    with pytest.raises(MutantError, match="exactly once"):
        gone.check()
