"""Each refusal of the database becomes a sentence with a status code, whatever the constraint."""

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from apps.lib.api.constraints import explain_violation
from apps.lib.api.problems import explain_exception
from apps.members.models import Tariff
from tests import factories

HOLD = "INSERT INTO network_holding (member_id, pool_id, group_id, kind, pool_prefix, prefix, valid) "


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("INSERT INTO members_site (version, name, code) VALUES (1, 'Main', 'M'), (1, 'Main', 'N')", 409, "name"),
        ("INSERT INTO members_room (version, site_id, floor, name) VALUES (1, 99999, 1, '101')", 409, "site"),
        ("DELETE FROM members_tariff", 409, ""),
        ("UPDATE members_member SET state = 'gone'", 422, ""),
        ("UPDATE members_member SET name = NULL", 422, "name"),
        ("UPDATE members_member SET number = 99999999999999", 422, ""),
        ("UPDATE members_member SET name = repeat('x', 500)", 422, ""),
        (HOLD + "SELECT member_id, pool_id, group_id, kind, pool_prefix, prefix, valid FROM network_holding", 409, ""),
    ],
)
def test_a_refusal_of_the_database_is_explained(network: factories.Network, query: str, status: int, field: str) -> None:
    with pytest.raises((IntegrityError, DataError)) as refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(query)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    assert isinstance(refused.value, IntegrityError | DataError)
    known = explain_violation(refused.value)
    assert known is not None and field in known.fieldname and known.text
    answer = explain_exception(refused.value, {})
    assert answer is not None and answer.status_code == status and answer.data["detail"] == str(known)


def test_what_others_need_is_not_deleted(network: factories.Network) -> None:
    with pytest.raises(IntegrityError) as refused:
        Tariff.objects.all().delete()
    answer = explain_exception(refused.value, {})
    assert answer is not None and (answer.status_code, "depend on it" in answer.data["detail"]) == (409, True)


def test_a_fault_of_ours_stays_one() -> None:
    assert explain_exception(IntegrityError("not of the database"), {}) is None
    assert explain_exception(KeyError("x"), {}) is None
