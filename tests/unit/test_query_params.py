"""What pages read from their parameters and forms, whatever was sent."""

from django.http import QueryDict

from apps.lib.web.query_params import parse_ids, parse_number

LARGEST = "9" * 18


def test_ids_are_the_numbers_that_a_database_can_store_each_once_and_in_their_order() -> None:
    assert parse_ids(["7", "x", "", "²", "-1", "1.5", LARGEST, LARGEST + "9", "3", "07"]) == [7, int(LARGEST), 3]


def test_a_number_that_is_none_is_what_the_caller_says() -> None:
    given = QueryDict("a=12&b=x&c=" + "9" * 19)
    assert [parse_number(given, name, 5) for name in ("a", "b", "c", "d")] == [12, 5, 5, 5]
