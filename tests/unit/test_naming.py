"""The rules for names find exactly the names that break them."""

import ast

import pytest

from tests.naming import is_participle, list_problems, read_modules


@pytest.mark.parametrize("name", ["told", "_held", "wanted", "built", "kept"])
def test_a_past_participle_alone_is_found(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize("name", ["is_held", "count_hits", "feed", "speed", "Held", "proceed", "read", "held_groups"])
def test_verbs_questions_and_longer_names_are_let_pass(name: str) -> None:
    assert not is_participle(name)


def test_a_class_that_exists_twice_is_named_with_both_places() -> None:
    source = ast.parse("class Row: ...")
    (problem,) = list_problems({"apps/a.py": source, "apps/b.py": source})
    assert problem == "apps/b.py:1: class Row is also at apps/a.py:1"


def test_a_private_class_and_a_command_may_exist_twice() -> None:
    source = ast.parse("class _Row: ...\nclass Command: ...")
    assert list_problems({"apps/a.py": source, "apps/b.py": source}) == []


def test_a_function_that_is_a_participle_is_found_with_its_line() -> None:
    (problem,) = list_problems({"apps/a.py": ast.parse("\ndef told(): ...")})
    assert problem.startswith("apps/a.py:2: function told is a bare participle")


def test_a_method_that_is_a_participle_is_found_with_its_line() -> None:
    (problem,) = list_problems({"apps/a.py": ast.parse("class A:\n    def _kept(self): ...")})
    assert problem.startswith("apps/a.py:2: function _kept is a bare participle")


def test_a_module_without_a_meaning_is_found() -> None:
    assert list_problems({"apps/nat/utils.py": ast.parse("")}) == ["apps/nat/utils.py:1: the module's name does not say what is in it"]


def test_the_modules_of_our_own_code_are_read() -> None:
    assert {"firewall/compile.py", "gateway/kernel.py", "portal/settings.py"} <= read_modules().keys()
