"""Queries that a process sends again and again are planned once for each connection."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import DataError
from django.test.utils import CaptureQueriesContext
from psycopg.types.numeric import Int8
from pytest_django.fixtures import Settings

from apps.lib.database.joint_reads import JointQuery
from apps.lib.database.prepared_cursor import open_prepared_cursor
from apps.members.models import Member
from tests import factories

pytestmark = pytest.mark.django_db
QUERY = "SELECT $1::bigint / $2::bigint, 'no parameter: %s $1'"


def run_query(*given: int) -> Any:
    with open_prepared_cursor() as cursor:
        cursor.execute(QUERY, [Int8(number) for number in given])
        return cursor.fetchone()


def count_prepared(text: str = QUERY) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement = %s", [text])
        return int(cursor.fetchone()[0])


def test_a_text_is_prepared_once_and_answers_for_each_parameter() -> None:
    assert [run_query(given, 2) for given in (4, 2**40)] == [(2, "no parameter: %s $1"), (2**39, "no parameter: %s $1")]
    assert count_prepared() == 1


def test_queries_of_django_are_not_prepared_afterwards() -> None:
    run_query(4, 2)
    list(Member.objects.all())
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%members_member%%'")
        assert cursor.fetchone() == (0,)


def test_a_failed_execution_leaves_the_connection_as_it_was() -> None:
    with pytest.raises(DataError, match="division by zero"), transaction.atomic():
        run_query(4, 0)
    assert connection.connection.prepare_threshold is None
    assert run_query(4, 2)[0] == 2


def test_nothing_is_prepared_through_pgbouncer(settings: Settings) -> None:
    settings.DATABASE_IS_POOLED = True
    assert run_query(4, 2)[0] == 2
    assert count_prepared() == 0


def test_its_queries_are_counted_like_all_others() -> None:
    with CaptureQueriesContext(connection) as made:
        run_query(4, 2)
    assert len(made) == 1 and QUERY in made[0]["sql"]


def test_a_joint_query_is_compiled_for_a_stand_in_and_reads_any_number(network: factories.Network) -> None:
    first, second = Member.objects.order_by("pk")[:2]
    for stand_in, comment in ((-(2**62), "%s"), (7, "100 %")):
        query = JointQuery([Member.objects.filter(pk=stand_in), Member.objects.exclude(pk=stand_in).exclude(note=comment)], stand_in)
        for member in (first, second):
            [same], others = query.read(member.pk)
            assert same == member and {each.pk for each in others} == {each.pk for each in Member.objects.exclude(pk=member.pk)}
