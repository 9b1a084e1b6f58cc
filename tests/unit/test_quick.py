"""`script/test --quick` runs the tests that are closest to a change."""

from tests.quick import BUDGET, choose, rank_tests


def test_a_changed_service_brings_the_tests_with_its_name_first_and_those_that_import_it() -> None:
    ranked = rank_tests(["apps/nat/pinholes/services.py"])
    assert ranked["tests/db/test_pinholes.py"] == 0 and ranked["tests/db/test_expiry.py"] == 1


def test_a_view_that_nothing_imports_brings_the_tests_of_its_page() -> None:
    assert "tests/db/test_pages_members.py" in rank_tests(["apps/desk/views/members.py"])


def test_a_documentation_page_brings_the_tests_of_documentation() -> None:
    assert rank_tests(["docs/rates.md"]) == {
        "tests/unit/test_docs.py": 0,
        **dict.fromkeys(["tests/unit/test_rates.py", "tests/db/test_rates.py"], 0),
    }


def test_what_is_far_is_left_out_when_the_time_is_spent_and_the_closest_never_is() -> None:
    ranked = {"tests/db/test_pinholes.py": 0, "tests/db/test_expiry.py": 1, "tests/db/test_why.py": 2}
    slow = dict.fromkeys(ranked, BUDGET * 0.6)
    assert list(choose(ranked, slow)) == ["tests/db/test_pinholes.py"]
    assert list(choose(ranked, dict.fromkeys(ranked, BUDGET * 2))) == ["tests/db/test_pinholes.py"]
