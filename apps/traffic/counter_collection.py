"""Collection of gateways' readings, each written down once: what passed and the baseline for the next reading, in one transaction.

A worker draws a ticket before it reads. A reading with a ticket older than the last one written down is discarded: so a reading that a
worker held for an hour changes nothing, whatever happened to the gateway meanwhile. An implausible reading is refused whole, with a line
in the log and on the gateway's page; the next reading counts from the last one that was accepted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import structlog
from django.conf import settings
from django.db import DataError, transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.bans import hits
from apps.network.models import Gateway
from apps.traffic import usage_writer
from apps.traffic.models import Collected, LastCounts
from firewall import counters, wire
from firewall.counters import Baseline, InvalidReadingError, ReadingIncrease

RATED_OVER = 10.0  # seconds; a rate is measured over at least this time, or half the interval of readings if that is shorter
LONGEST = timedelta(days=365)  # how long a gateway may have counted before its first reading

log = structlog.get_logger()


class ReadingOutcome(StrEnum):
    """Result of handing in a reading."""

    WRITTEN = "written"
    OLD = "old"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ReadingTicket:
    """The right to write down one reading, and the request to the agent that fetches it."""

    number: int
    request: wire.Counters


def draw_ticket(gateway: Gateway) -> ReadingTicket:
    """Return a ticket with a higher number than all before it."""
    Collected.objects.get_or_create(gateway=gateway)
    with transaction.atomic():
        Collected.objects.filter(gateway=gateway).update(asked=F("asked") + 1)
        row = Collected.objects.get(gateway=gateway)
    return ReadingTicket(row.asked, wire.Counters(row.log, row.gone))


def record_reading(*, gateway: Gateway, ticket: ReadingTicket, reading: wire.Reading, at: datetime) -> ReadingOutcome:
    """Write down the reading taken at this moment, or note on the gateway's page why it was refused."""
    try:
        with transaction.atomic():
            return _write_reading(gateway, ticket, reading, at)
    except InvalidReadingError as error:
        why = str(error)
    except (DataError, ValueError) as error:  # a number or text that does not fit its column
        why = f"the database cannot hold it: {str(error).splitlines()[0]}"
    log.warning("reading refused", gateway=gateway.name, sequence=reading.sequence, error=why)
    note_refusal(gateway=gateway, why=why, at=at)
    return ReadingOutcome.REFUSED


def note_refusal(*, gateway: Gateway, why: str, at: datetime | None = None) -> None:
    """Record for the gateway's page why its last reading failed, and since when readings fail."""
    since = Coalesce(F("refused_at"), Value(at or timezone.now()))
    Collected.objects.filter(gateway=gateway).update(refused=why.replace("\0", "")[:500], refused_at=since)


def accept_next_reading(*, gateway: Gateway) -> None:
    """Take the next reading as the new baseline, whatever it says; what passed since the last one is not counted."""
    Collected.objects.filter(gateway=gateway).update(skip=True)


def forget_rates(*, gateway: Gateway) -> None:
    """Forget the gateway's recent rates, because it does not answer: another one may carry its members by now."""
    Collected.objects.filter(gateway=gateway).update(up_bits=None, down_bits=None)


def forget_baseline(*, gateway: Gateway) -> None:
    """Count another machine from zero from now on. A reading that is still on its way is discarded.

    Where the former machine's counters stood is kept until another machine was read: if it answers again before, nothing is counted twice.
    """
    accepted: dict[str, Any] = {"refused": "", "refused_at": None, "skip": False, "nobodys": 0, "nobodys_first": ""}
    rates: dict[str, Any] = {"up_bits": None, "down_bits": None, "rated_at": None, "up_octets": 0, "down_octets": 0}
    with transaction.atomic():
        for row in Collected.objects.select_for_update().filter(gateway=gateway):
            former = sorted({*row.former_logs, row.log} - {""})
            Collected.objects.filter(pk=row.pk).update(told=F("asked"), former_logs=former, **accepted, **rates)


def _write_reading(gateway: Gateway, ticket: ReadingTicket, reading: wire.Reading, at: datetime) -> ReadingOutcome:
    row = Collected.objects.select_for_update().get(gateway=gateway)
    counted = _find_counted(row, reading)
    skip = row.skip or _is_baseline_lost(counted, reading)
    before = Baseline() if skip else _load_baseline(counted, reading)
    advance = counters.compute_reading_advance(before, reading) if ticket.number > row.told else None
    if advance is None:
        validate_sequence(row, ticket, reading, at)
        log.info("old reading", gateway=gateway.name, ticket=ticket.number, sequence=reading.sequence)
        return ReadingOutcome.OLD
    if skip:
        advance = replace(advance, passed={}, continues=False)
    validate_reading_increase(advance, _estimate_elapsed(row, ticket, at))
    bucket = usage_writer.get_open_bucket(at)
    nobodys = usage_writer.add_usage(advance.passed, at, bucket)
    usage_writer.add_throughput(gateway, advance.passed, bucket)
    usage_writer.record_coverage(gateway, at, continues=advance.continues)
    hits.record_hits(gateway=gateway, passed=advance.passed, at=at)
    _save_baseline(row, ticket, advance.baseline, nobodys, at)
    _note_rates(row, advance, at)
    if nobodys.number:
        log.warning("counted elements without a member", gateway=gateway.name, elements=nobodys.number, first=nobodys.first)
    return ReadingOutcome.WRITTEN


def _estimate_elapsed(row: Collected, ticket: ReadingTicket, at: datetime) -> timedelta:
    """Return the time since the last reading that was written down: by the clock, or by the readings that were due since then if that
    is longer, because the clock was set back.
    """
    if row.at is None:
        return LONGEST
    return max(at - row.at, (ticket.number - row.told) * timedelta(seconds=settings.COLLECT_SECONDS))


def _note_rates(row: Collected, advance: ReadingIncrease, at: datetime) -> None:
    """Save the recent rates. Two readings too close together give no rate: what passed between them counts for the next one."""
    seconds = (at - row.rated_at).total_seconds() if row.rated_at and advance.continues else -1.0
    octets = {way: sum(number for name, number in advance.octets.items() if name.startswith(way)) for way in ("up", "down")}
    octets = {way: number + getattr(row, f"{way}_octets") for way, number in octets.items()}
    values: dict[str, Any] = {f"{way}_octets": number for way, number in octets.items()}
    if seconds < 0:
        values = {"rated_at": at, "up_bits": None, "down_bits": None, "up_octets": 0, "down_octets": 0}
    elif seconds >= min(RATED_OVER, settings.COLLECT_SECONDS / 2):
        bits = {f"{way}_bits": int(8 * number / seconds) for way, number in octets.items()}
        values = {"rated_at": at, "up_octets": 0, "down_octets": 0} | bits
    Collected.objects.filter(pk=row.pk).update(**values)


def validate_sequence(row: Collected, ticket: ReadingTicket, reading: wire.Reading, at: datetime) -> None:
    """Raise InvalidReadingError when a reading with the newest ticket has no higher sequence than one written down more than PAUSE ago.

    Then the sequence that was written down is wrong. For readings that `counters.compute_reading_advance` found too old.
    """
    if row.at and row.told < ticket.number == row.asked and at - row.at > usage_writer.PAUSE:
        raise InvalidReadingError(f"it is reading {reading.sequence}, and reading {row.sequence} of the same log was written down before")


def validate_reading_increase(advance: ReadingIncrease, elapsed: timedelta) -> None:
    """Raise InvalidReadingError when more octets were counted than an interface can carry in that time, or more packets than octets.

    A clock that was set back is no reason to refuse.
    """
    seconds = max(elapsed.total_seconds(), settings.COLLECT_SECONDS) + settings.COLLECT_SECONDS
    most = int(settings.LINE_MBITS * 1_000_000 / 8 * seconds)
    for way in ("up", "down"):
        octets = sum(number for name, number in advance.octets.items() if name.startswith(way))
        if octets > most:
            raise InvalidReadingError(
                f"{way}: {octets} octets in {seconds:.0f} s; no more than {most} fit through an interface of this network"
            )
    for name, passed in advance.passed.items():
        for packets, octets in zip(passed.packets, passed.octets, strict=True):
            if packets > octets:
                raise InvalidReadingError(f"set {name}: {packets} packets of {octets} octets altogether")


def _find_counted(row: Collected, reading: wire.Reading) -> Collected:
    """Return the row whose baseline the reading continues: another gateway's, if this machine was that gateway in the meantime.

    Of the other gateways, those that are retired or have got another machine. The log's name is the machine's own, so what was written
    down of it under another gateway is not counted again.
    """
    left = Q(gateway__retired__isnull=False) | Q(former_logs__contains=[reading.log])
    others = Collected.objects.filter(left, log=reading.log).exclude(log="").exclude(pk=row.pk)
    known = row.sequence if row.log == reading.log else -1
    return others.filter(sequence__gt=known).order_by("-sequence").first() or row


def _is_baseline_lost(counted: Collected, reading: wire.Reading) -> bool:
    """True if the machine was read before it was replaced, and is back after others were read in its place."""
    return counted.log != reading.log and Collected.objects.filter(former_logs__contains=[reading.log]).exists()


def _load_baseline(row: Collected, reading: wire.Reading) -> Baseline:
    """Return the baseline from which the reading counts: an empty one for the first reading of a new machine."""
    if row.log != reading.log and row.log in row.former_logs:
        return Baseline()
    sets = {
        each.set: wire.Counts(each.elements, bytes(each.keys), bytes(each.packets), bytes(each.octets), bytes(each.owners))
        for each in LastCounts.objects.filter(gateway=row.gateway_id).iterator(1)
    }
    return Baseline(row.boot, row.table, row.log, row.sequence, row.gone, sets)


def _save_baseline(row: Collected, ticket: ReadingTicket, baseline: Baseline, nobodys: usage_writer.UnownedElements, at: datetime) -> None:
    Collected.objects.filter(pk=row.pk).update(
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
        former_logs=[each for each in row.former_logs if each != baseline.log],
    )
    _save_counts(row.gateway_id, baseline.sets)


def _save_counts(gateway: int, sets: Mapping[str, wire.Counts]) -> None:
    LastCounts.objects.filter(gateway=gateway).exclude(set__in=sets).delete()
    rows = (
        LastCounts(
            gateway_id=gateway,
            set=name,
            elements=each.elements,
            keys=each.keys,
            packets=each.packets,
            octets=each.octets,
            owners=each.owners,
        )
        for name, each in sets.items()
    )
    columns = ["elements", "keys", "packets", "octets", "owners"]
    LastCounts.objects.bulk_create(rows, batch_size=1, update_conflicts=True, unique_fields=["gateway", "set"], update_fields=columns)
