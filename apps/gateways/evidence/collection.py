"""Collects evidence that was requested: asks the agent, adds what the portal knows, and stores the archive."""

from datetime import timedelta
from typing import Final, NamedTuple

import structlog
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.deployments.transport.agent_channel import AgentChannel, Unreachable, build_channel
from apps.deployments.transport.agent_client import is_request_unknown
from apps.gateways.evidence.archive import ArchiveEntry, build_archive, unpack_part
from apps.gateways.evidence.models import EvidenceArchive, EvidenceFile
from apps.gateways.evidence.part_texts import PORTAL
from apps.gateways.evidence.portal_part import build_portal_part
from apps.network.models import Gateway
from firewall import wire
from firewall.evidence import CollectEvidence, EvidenceCollected

SECONDS: Final = 5  # of packet headers
LONGEST: Final = 120.0  # seconds for an answer, whatever beats come: the agent gives each part up after ten seconds
AT_ONCE: Final = 2  # collections: each keeps a thread of the collector busy, which also probes and reads
LATE: Final = timedelta(minutes=2)  # after which a request is too old: what is seen then is not what it was about
FORGOTTEN: Final = timedelta(minutes=5)  # after which a collection has lost its worker
KEPT: Final = 30  # archives of one gateway
log = structlog.get_logger()
State, Problem = EvidenceArchive.State, EvidenceArchive.Problem


class AgentPart(NamedTuple):
    """What the agent handed over. problem: why it is nothing, "" if it is something; reason: its words."""

    entries: list[ArchiveEntry]
    agent: str = ""
    problem: str = ""
    reason: str = ""


def end_forgotten_requests() -> None:
    """End requests that waited for too long, and collections whose worker was lost."""
    now, requests = timezone.now(), EvidenceArchive.objects
    late = requests.filter(state=State.WAITING, asked__lt=now - LATE)
    late.update(state=State.FAILED, problem=Problem.LATE, finished=Now())
    lost = requests.filter(state=State.RUNNING, started__lt=now - FORGOTTEN)
    lost.update(state=State.FAILED, problem=Problem.LOST, finished=Now())


def list_waiting_requests() -> list[int]:
    """Return the requests that no worker has begun, oldest first."""
    return list(EvidenceArchive.objects.filter(state=State.WAITING).order_by("pk").values_list("pk", flat=True))


def collect_evidence(pk: int) -> None:
    """Carry out a request that waits. Does nothing if another worker has begun it, or as many as may are under way."""
    row = EvidenceArchive.objects.filter(pk=pk, state=State.WAITING).select_related("gateway__group").first()
    running = EvidenceArchive.objects.filter(state=State.RUNNING)
    if row is None or running.count() >= AT_ONCE or running.filter(gateway=row.gateway_id).exists():
        return
    if EvidenceArchive.objects.filter(pk=pk, state=State.WAITING).update(state=State.RUNNING, started=Now()) != 1:
        return
    channel = build_channel(row.gateway, longest=LONGEST)
    try:
        found = _ask_agent(row.gateway, channel)
    finally:
        channel.close()
    entries = [*found.entries, ArchiveEntry(PORTAL, build_portal_part(row.gateway))]
    _store_archive(row, found, entries)


def _ask_agent(gateway: Gateway, channel: AgentChannel) -> AgentPart:
    interfaces = tuple(dict.fromkeys(filter(None, (gateway.lan, gateway.wan, gateway.sync))))
    try:
        answer = channel.ask(CollectEvidence(interfaces, SECONDS))
    except Unreachable as fault:
        return AgentPart([], problem=Problem.UNREACHABLE, reason=_shorten(str(fault)))
    if isinstance(answer, EvidenceCollected):
        return AgentPart([unpack_part(each) for each in answer.parts], answer.agent)
    if is_request_unknown(answer):
        return AgentPart([], problem=Problem.OLDER)
    words = answer.text if isinstance(answer, wire.Refused) else f"it answered {type(answer).__name__}"
    return AgentPart([], problem=Problem.REFUSED, reason=_shorten(words))


def _shorten(text: str) -> str:
    return " ".join(text.replace("\0", "").split())[:300]


def _store_archive(row: EvidenceArchive, found: AgentPart, entries: list[ArchiveEntry]) -> None:
    now = timezone.now()
    octets = build_archive(name_folder(row), _build_head(row, found), entries, now)
    parts = [
        {"name": each.name, "size": None if each.octets is None else len(each.octets), "note": each.note, "milliseconds": each.milliseconds}
        for each in entries
    ]
    given = {"state": State.DONE, "finished": now, "problem": found.problem, "reason": found.reason, "parts": parts, "size": len(octets)}
    with transaction.atomic():
        if EvidenceArchive.objects.filter(pk=row.pk, state=State.RUNNING).update(**given) != 1:
            return  # it took so long that it counts as lost
        EvidenceFile.objects.create(archive_id=row.pk, octets=octets)
        _drop_surplus(row.gateway)
    log.info("evidence collected", gateway=row.gateway.name, octets=len(octets), problem=found.problem or None)


def name_folder(row: EvidenceArchive) -> str:
    """Return the name of the archive without its ending. It sorts by gateway and time."""
    return f"evidence-{row.gateway.name}-{row.asked:%Y%m%dT%H%M%SZ}"


def _build_head(row: EvidenceArchive, found: AgentPart) -> list[str]:
    return [
        f"Evidence of gateway {row.gateway.name}, group {row.gateway.group.name}",
        f"Requested {row.asked:%Y-%m-%d %H:%M:%S} UTC: {row.cause}",
        f"Agent {found.agent}" if found.agent else f"The gateway handed over nothing ({found.problem}). {found.reason}".rstrip(),
        "",
        "It contains addresses of members: pass it on to nobody who may not see them, and delete it when the fault is found.",
        "It contains no payload of packets.",
    ]


def _drop_surplus(gateway: Gateway) -> None:
    """Delete the oldest archives beyond KEPT, those that the portal asked for first."""
    rows = EvidenceArchive.objects.filter(gateway=gateway).exclude(state__in=EvidenceArchive.OPEN)
    surplus = rows.count() - KEPT
    if surplus > 0:
        by_portal = list(rows.exclude(cause=EvidenceArchive.Cause.PERSON).order_by("pk").values_list("pk", flat=True)[:surplus])
        others = list(rows.exclude(pk__in=by_portal).order_by("pk").values_list("pk", flat=True)[: surplus - len(by_portal)])
        EvidenceArchive.objects.filter(pk__in=by_portal + others).delete()
