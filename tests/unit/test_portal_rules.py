"""Rules about the portal's own health: each finds its own fault and no other, and says it in words."""

import dataclasses
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.utils.translation import override

from apps.operations.portal_health.broker import compute_age
from apps.operations.portal_health.figures import DiskSpace, PartitionCover, PortalFigures
from apps.operations.portal_health.growth import DatabaseGrowth, compute_growth
from apps.operations.portal_health.judgement import judge_portal
from apps.operations.portal_health.partition_cover import compute_covers
from apps.operations.portal_health.rule import PortalKind
from apps.operations.portal_health.rules import MODULES, PORTAL_RULES
from apps.operations.portal_health.statement_text import LONGEST, hide_values
from firewall.codec import decode, encode
from tests.portal_situations import AT, BROKER, DATABASE, DISK, GIB, QUEUE, TABLE, TRANSACTION, build_figures, build_portal_situation

DAY = timedelta(days=1)


def full_in(days: int) -> dict[str, Any]:
    return {"growth": DatabaseGrowth(GIB, 30, AT.date() + days * DAY)}


def table(**changed: Any) -> dict[str, Any]:
    return {"tables": (dataclasses.replace(TABLE, **changed),)}


def broker(**changed: Any) -> dict[str, Any]:
    return {"broker": dataclasses.replace(BROKER, queues=(dataclasses.replace(QUEUE, **changed),))}


FAULTS = [
    ("database_disk", PortalKind.WARN, {"disk": DiskSpace(100 * GIB, 9 * GIB)}),
    ("database_disk", PortalKind.BAD, {"disk": DiskSpace(100 * GIB, 2 * GIB)}),
    ("database_disk", PortalKind.WARN, full_in(12)),
    ("wraparound", PortalKind.WARN, {"database": dataclasses.replace(DATABASE, ids_used=900_000_000)}),
    ("wraparound", PortalKind.BAD, {"database": dataclasses.replace(DATABASE, ids_used=1_600_000_000)}),
    ("database_connections", PortalKind.WARN, {"database": dataclasses.replace(DATABASE, connections=80)}),
    ("database_connections", PortalKind.BAD, {"database": dataclasses.replace(DATABASE, connections=95)}),
    ("broker_full", PortalKind.WARN, {"broker": dataclasses.replace(BROKER, memory=230 << 20)}),
    ("broker_full", PortalKind.BAD, {"broker": dataclasses.replace(BROKER, memory=255 << 20)}),
    ("partitions_missing", PortalKind.WARN, {"partitions": (PartitionCover("traffic_hour", 7200),)}),
    ("partitions_missing", PortalKind.BAD, {"partitions": (PartitionCover("traffic_hour", 0),)}),
    ("queue_behind", PortalKind.WARN, broker(messages=4000, oldest=600)),
    ("queue_behind", PortalKind.WARN, broker(messages=500, oldest=None)),
    ("queue_behind", PortalKind.WARN, broker(role="feeds", queue="feeds", oldest=2 * 3600)),
    ("backup_old", PortalKind.WARN, {"backup": timedelta(hours=49)}),
    ("old_transaction", PortalKind.WARN, {"transaction": dataclasses.replace(TRANSACTION, seconds=3 * 3600)}),
    ("old_transaction", PortalKind.BAD, {"transaction": dataclasses.replace(TRANSACTION, program="", seconds=13 * 3600)}),
    ("bloat", PortalKind.WARN, table(dead=300_000)),
    ("bloat", PortalKind.WARN, table(dead=300_000, vacuumed=None)),
]


@pytest.mark.parametrize(("rule", "kind", "changed"), FAULTS)
@pytest.mark.parametrize("language", ["en", "de"])
def test_each_fault_is_found_alone_and_in_words(rule: str, kind: PortalKind, changed: dict[str, Any], language: str) -> None:
    found = judge_portal(build_portal_situation(**changed), PORTAL_RULES.values())
    assert {name: evidence.kind for name, evidence in found.items()} == {rule: kind}
    with override(language):
        said = PORTAL_RULES[rule].describe(json.loads(json.dumps(found[rule].values)))
    assert said.endswith(".") and "%(" not in said and "None" not in said


def test_every_rule_has_a_fault_here_and_a_name_of_its_own() -> None:
    assert {rule for rule, _kind, _changed in FAULTS} == set(PORTAL_RULES)
    assert len(PORTAL_RULES) == len(MODULES)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"backup": None},
        {"disk": None},
        {"disk": DiskSpace(4000 * GIB, 120 * GIB)},
        {"transaction": None, "running": None, "tables": ()},
        {"growth": DatabaseGrowth(-GIB, 30, None)},
        full_in(31),
        table(dead=49_999, live=0),
        table(dead=190_000),
        broker(oldest=None),
        broker(oldest=600, is_served=False),
        {"broker": dataclasses.replace(BROKER, memory=900 << 20, most_memory=0)},
    ],
)
def test_a_portal_without_a_fault_has_no_finding(changed: dict[str, Any]) -> None:
    assert judge_portal(build_portal_situation(**changed), PORTAL_RULES.values()) == {}


def test_figures_are_the_same_after_they_were_stored_as_json() -> None:
    for figures in (build_figures(), build_figures(disk=None, transaction=None, running=None, statements=None)):
        assert decode(PortalFigures, json.loads(json.dumps(encode(figures)))) == figures


def test_growth_is_known_after_a_week_and_says_when_the_disk_is_full() -> None:
    sizes = [(date(2026, 7, 1) + number * DAY, (10 + number) * GIB) for number in range(11)]
    assert compute_growth([], DISK) is compute_growth(sizes[:7], DISK) is None
    assert compute_growth(sizes, DISK) == DatabaseGrowth(GIB, 10, date(2026, 7, 11) + 60 * DAY)
    assert compute_growth(sizes, None) == DatabaseGrowth(GIB, 10, None)
    assert compute_growth(sizes, DiskSpace(100_000 * GIB, 90_000 * GIB)) == DatabaseGrowth(GIB, 10, None)
    shrinking = compute_growth([(day, -octets + 100 * GIB) for day, octets in sizes], DISK)
    assert shrinking and (shrinking.octets, shrinking.full) == (-GIB, None)


def test_partitions_ahead_end_at_the_first_gap() -> None:
    first = datetime(2026, 7, 1, tzinfo=UTC)
    days = [(first + number * DAY, first + (number + 1) * DAY) for number in (2, 0, 1, 4)]
    known = {"after": [(first + DAY, first + 2 * DAY)], "days": days, "none": []}
    assert compute_covers(known, AT) == (PartitionCover("after", 0), PartitionCover("days", 60 * 3600), PartitionCover("none", 0))


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("SELECT 1", "SELECT ?"),
        ("SELECT * FROM m WHERE name = 'O''Neill, Jo' AND id IN (1, 2,\n 3)", "SELECT * FROM m WHERE name = ? AND id IN (?, …)"),
        ("UPDATE t1 SET a = -1.5e3, b = E'it\\'s 10.0.0.1' WHERE c = $1", "UPDATE t1 SET a = ?, b = ? WHERE c = $1"),
        ("SELECT $tag$Mara 'L'$tag$, $$x$$", "SELECT ?, …"),
        ("INSERT INTO m VALUES ('a name that the server cut o", "INSERT INTO m VALUES (?"),
        ('SELECT 1 -- Mara\n/* Jo */ FROM "Table 7"', 'SELECT ? FROM "Table 7"'),
        ("SELECT 1 -- Mara's\n, 'x'", "SELECT ?, …"),
        ("FETCH 2000 FROM c7f3", "FETCH ? FROM c7f3"),
    ],
)
def test_statements_are_shown_without_values(statement: str, shown: str) -> None:
    assert hide_values(statement) == shown


def test_a_long_statement_is_shortened() -> None:
    assert len(hide_values("SELECT " + "a, " * 900)) == LONGEST


def test_a_message_tells_its_age_or_that_it_does_not_know_it() -> None:
    def message(headers: object) -> bytes:
        return json.dumps({"body": "W10=", "headers": headers}).encode()

    assert compute_age(message({"queued_at": "2026-07-01T11:59:18.5+00:00"}), AT) == 41
    assert compute_age(message({"queued_at": "2026-07-01T12:00:03+00:00"}), AT) == 0
    assert [compute_age(each, AT) for each in (message({}), message([]), message({"queued_at": 7}), b"{", b"[]")] == [None] * 5
