"""A gateway's readings, each written down once: what passed, and from where the next one counts, in one transaction.

Who wants to read draws a ticket first. A reading whose ticket is older than one that was written down is thrown away: so one that a
worker held for an hour changes nothing, whatever became of the gateway meanwhile. A reading that cannot be right is refused whole, with
a line in the log and on the gateway's page; the next one counts from the last that was believed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.bans import hits
from apps.network.models import Gateway
from apps.traffic import writing
from apps.traffic.models import Collected, LastCounts
from firewall import counters, wire
from firewall.counters import Advance, Baseline, ReadingError

log = structlog.get_logger()


class Outcome(StrEnum):
    """What became of a reading."""

    WRITTEN = "written"
    OLD = "old"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to write down one reading, and how to ask for it."""

    number: int
    request: wire.Counters


def draw(gateway: Gateway) -> Ticket:
    """A ticket newer than all before it."""
    Collected.objects.get_or_create(gateway=gateway)
    with transaction.atomic():
        Collected.objects.filter(gateway=gateway).update(asked=F("asked") + 1)
        row = Collected.objects.get(gateway=gateway)
    return Ticket(row.asked, wire.Counters(row.log, row.gone))


def record(*, gateway: Gateway, ticket: Ticket, reading: wire.Reading, at: datetime) -> Outcome:
    """Write down the reading, taken at this moment."""
    try:
        with transaction.atomic():
            return _record(gateway, ticket, reading, at)
    except ReadingError as error:
        log.warning("reading refused", gateway=gateway.name, sequence=reading.sequence, error=str(error))
        note_refusal(gateway=gateway, why=str(error), at=at)
        return Outcome.REFUSED


def note_refusal(*, gateway: Gateway, why: str, at: datetime | None = None) -> None:
    """Show on the gateway's page that its last reading was none."""
    Collected.objects.filter(gateway=gateway).update(refused=why[:500], refused_at=at or timezone.now())


def accept(*, gateway: Gateway) -> None:
    """Let the next reading be where counting begins again, whatever it says; what passed since the last one is not counted."""
    Collected.objects.filter(gateway=gateway).update(skip=True)


def _record(gateway: Gateway, ticket: Ticket, reading: wire.Reading, at: datetime) -> Outcome:
    row = Collected.objects.select_for_update().get(gateway=gateway)
    advance = counters.advance(_baseline(row), reading) if ticket.number > row.told else None
    if advance is None:
        log.info("old reading", gateway=gateway.name, ticket=ticket.number, sequence=reading.sequence)
        return Outcome.OLD
    if row.skip:
        advance = replace(advance, passed={}, continues=False)
    if row.at is not None:
        check(advance, at - row.at)
    bucket = writing.bucket_of(at)
    nobodys = writing.add_usage(advance.passed, at, bucket)
    writing.add_throughput(gateway, advance.passed, bucket)
    writing.cover(gateway, at, continues=advance.continues)
    hits.record(gateway=gateway, passed=advance.passed, at=at)
    _keep(gateway, ticket, advance.baseline, nobodys, at)
    if nobodys.number:
        log.warning("counted for nobody", gateway=gateway.name, elements=nobodys.number, first=nobodys.first)
    return Outcome.WRITTEN


def check(advance: Advance, elapsed: timedelta) -> None:
    """Could so much pass in that time? Raises ReadingError. A clock that was set back is no reason to doubt."""
    seconds = max(elapsed.total_seconds(), settings.COLLECT_SECONDS) + settings.COLLECT_SECONDS
    most = int(settings.LINE_MBITS * 1_000_000 / 8 * seconds)
    for way in ("up", "down"):
        octets = sum(number for name, number in advance.octets.items() if name.startswith(way))
        if octets > most:
            raise ReadingError(f"{way}: {octets} octets in {seconds:.0f} s; no more than {most} fit through an interface of this network")


def _baseline(row: Collected) -> Baseline:
    sets = {
        each.set: wire.Counts(each.elements, bytes(each.keys), bytes(each.packets), bytes(each.octets), bytes(each.owners))
        for each in LastCounts.objects.filter(gateway=row.gateway_id).iterator(1)
    }
    return Baseline(row.boot, row.table, row.log, row.sequence, row.gone, sets)


def _keep(gateway: Gateway, ticket: Ticket, baseline: Baseline, nobodys: writing.Nobodys, at: datetime) -> None:
    Collected.objects.filter(gateway=gateway).update(
        told=ticket.number,
        boot=baseline.boot,
        table=baseline.table,
        log=baseline.log,
        sequence=baseline.sequence,
        gone=baseline.gone,
        at=at,
        refused="",
        refused_at=None,
        skip=False,
        nobodys=nobodys.number,
        nobodys_first=nobodys.first[:60],
    )
    _keep_counts(gateway, baseline.sets)


def _keep_counts(gateway: Gateway, sets: Mapping[str, wire.Counts]) -> None:
    LastCounts.objects.filter(gateway=gateway).exclude(set__in=sets).delete()
    rows = (
        LastCounts(
            gateway=gateway, set=name, elements=each.elements, keys=each.keys, packets=each.packets, octets=each.octets, owners=each.owners
        )
        for name, each in sets.items()
    )
    columns = ["elements", "keys", "packets", "octets", "owners"]
    LastCounts.objects.bulk_create(rows, batch_size=1, update_conflicts=True, unique_fields=["gateway", "set"], update_fields=columns)
