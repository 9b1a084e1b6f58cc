"""Columns of a table of people are recognised by their headers, and can be chosen."""

import pytest

from apps.desk.people_import.columns import ColumnMeaning, check_columns, match_columns, parse_choices
from apps.lib.errors import Problem


@pytest.mark.parametrize(
    ("header", "meaning"),
    [
        ("Number", "number"),
        (" MITGLIEDS-NR. ", "number"),
        ("E-Mail", "email"),
        ("email address", "email"),
        ("Zimmer", "room"),
        ("Room no.", "room"),
        ("Gebäude", "house"),
        ("bezahlt bis", "paid_until"),
        ("Einzug", "since"),
        ("Device 1", "device"),
        ("Gerät 2", "device"),
        ("MAC", "mac"),
        ("MAC2", "mac"),
        ("Device 1 MAC", "mac"),
        ("MAC-Adresse 3", "mac"),
        ("IPv4", "address"),
        ("IPv6", "prefix"),
        ("Public address", "public"),
        ("Freigaben", "forwards"),
        ("Port forwards", "skip"),
        ("Shoe size", "skip"),
        ("", "skip"),
    ],
)
def test_usual_headers_are_recognised(header: str, meaning: str) -> None:
    assert match_columns([header]) == (meaning,)


def test_of_two_columns_with_one_meaning_only_the_first_is_read_but_devices_repeat() -> None:
    assert match_columns(["Room", "Zimmer", "MAC 1", "MAC 2"]) == ("room", "skip", "mac", "mac")


def test_choices_overrule_what_was_recognised() -> None:
    header = ["No.", "Wohnort", "Zimmer"]
    assert parse_choices(header, ["Wohnort=room", "zimmer=skip"]) == ("number", "room", "skip")


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("Keller=room", "The table has no column “Keller”. It has: No., Name."),
        ("Name=shoe", "“shoe” is no meaning of a column."),
        ("room", "The table has no column “room”."),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(choice: str, words: str) -> None:
    with pytest.raises(Problem) as refused:
        parse_choices(["No.", "Name"], [choice])
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("meanings", "words"),
    [
        (["name", "room"], "No column has the member number or the e-mail"),
        (["number", "number"], "Two columns mean “Member number”: “a” and “b”."),
        (["number", "device"], "more columns with devices than with MAC addresses"),
    ],
)
def test_columns_that_cannot_be_imported_are_refused(meanings: list[str], words: str) -> None:
    with pytest.raises(Problem) as refused:
        check_columns(["a", "b"], [ColumnMeaning(each) for each in meanings])
    assert words in str(refused.value)
