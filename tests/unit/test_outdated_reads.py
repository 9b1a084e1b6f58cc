"""Age of reads of the database, by PostgreSQL's text of a snapshot: xmin, xmax, transactions under way."""

import pytest

from apps.deployments.rollouts.outdated_reads import is_older_read


@pytest.mark.parametrize(
    ("read", "other", "older"),
    [
        ("10:10:", "10:10:", False),
        ("10:10:", "10:11:10", True),
        ("10:11:10", "10:10:", False),
        ("10:12:10,11", "11:12:11", True),
        ("10:12:10", "10:12:10,11", False),
        ("9:12:9", "9:12:9", False),
        ("900:1000:900", "1000:1000:", True),
        ("1000:1000:", "900:1000:900", False),
    ],
)
def test_a_read_is_older_than_one_that_began_later_or_saw_what_was_under_way(read: str, other: str, older: bool) -> None:
    assert is_older_read(read, other) is older
