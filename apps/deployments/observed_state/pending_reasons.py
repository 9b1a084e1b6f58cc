"""For whom or what a change waits that a gateway does not have yet: a second person, a hold, a silent gateway, a rollout.

In come rows and what each gateway has of them; out goes the same with reasons. Two more queries, however many rows; the elements
of a held-back part are read once in each process.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import connection
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.bans.blocks.models import Block
from apps.bans.models import AllowEntry, Ban
from apps.deployments.approvals import effects
from apps.deployments.approvals.kinds import SPECIAL
from apps.deployments.models import Rollout, RolloutStep
from apps.lib.activation import Activation, Waits
from apps.lib.models import Deployed
from apps.lib.ui import formats
from apps.nat.models import NatMapping, Pinhole, PortForward
from apps.network.models import Holding
from apps.operations import heartbeats
from apps.operations.models import Role
from firewall.sets import Kind

_STANDS = """
    SELECT g.id, g.name, g.group_id, s.unreachable_since, coalesce(s.error, '') <> '', h.revision_id,
        r.id, r.state, r.revision_id,
        (SELECT st.state FROM deployments_rolloutstep st WHERE st.rollout_id = r.id AND st.gateway_id = g.id),
        ARRAY(SELECT concat_ws(' ', w.id, w.kind, w.digest) FROM deployments_heldback w
            WHERE w.group_id = g.group_id AND w.state = 'waiting' AND w.kind <> ALL(%s) ORDER BY w.id)
    FROM network_gateway g
    LEFT JOIN deployments_gatewaystate s ON s.gateway_id = g.id
    LEFT JOIN deployments_hold h ON h.group_id = g.group_id AND h.released IS NULL
    LEFT JOIN LATERAL (
        SELECT id, state, revision_id FROM deployments_rollout WHERE group_id = g.group_id ORDER BY id DESC LIMIT 1
    ) r ON true
"""


@dataclass(frozen=True, slots=True)
class _Stands:
    """How a gateway stands: silent or in error, its group held, the group's last rollout and its own step in it.

    parts: what is held back in its group, each “id kind digest”.
    """

    pk: int
    name: str
    group: int
    silent_since: datetime | None
    error: bool
    held_at: int | None
    rollout: int | None
    state: str | None
    revision: int | None
    step: str | None
    parts: list[str]


def with_reasons(rows: Sequence[Deployed], found: Mapping[int, list[Activation]]) -> Mapping[int, list[Activation]]:
    """Each activation that is missing says why; what is held back is missing, whatever has been deployed since it was asked for."""
    if not rows:
        return found
    stands = _stands()
    held = _held(rows, stands.values())
    worker = _of_worker() if any(not each.since for row in rows for each in found[row.pk]) else None
    return {
        row.pk: [_explained(each, held.get(row.pk), stands, worker) if not each.since or row.pk in held else each for each in found[row.pk]]
        for row in rows
    }


def _stands() -> dict[str, _Stands]:
    with connection.cursor() as cursor:
        cursor.execute(_STANDS, [list(SPECIAL)])
        return {row[1]: _Stands(*row) for row in cursor.fetchall()}


def _explained(activation: Activation, held: int | None, stands: Mapping[str, _Stands], worker: Waits | None) -> Activation:
    if held:
        reason: Waits | None = Waits(_("waits for a second person’s approval"), reverse("deployments:held", args=[held]), person=True)
    else:
        gateway = stands.get(activation.gateway)
        reason = _reason(gateway, worker) if gateway else None
    return replace(activation, since=None, waits=reason)


# --- A second person


def _held(rows: Iterable[Deployed], stands: Iterable[_Stands]) -> dict[int, int]:
    """The rows whose removal waits, or whose coming, with the id of what is held back."""
    parts = {tuple(part.split()) for gateway in stands for part in gateway.parts}
    if not parts:
        return {}
    keys = {(Kind(kind), key): int(pk) for pk, kind, digest in parts for key in effects.keys_of(int(pk), digest)}
    return {row.pk: keys[key] for row in rows for key in _keys(row) if key in keys}


def _keys(row: Deployed) -> Iterator[tuple[Kind, str]]:
    """As `effects.Thing.key` has them, from columns of the row alone."""
    match row:
        case PortForward():
            yield Kind.FORWARDS, effects.forward_key(row.get_protocol_display(), str(row.public_port), str(row.public))
        case Pinhole():
            protocol = "" if row.protocol == Pinhole.Protocol.ALL else row.get_protocol_display()
            yield Kind.PINHOLES, effects.pinhole_key(protocol, str(row.port) if row.port else "", str(row.address))
        case NatMapping() if NatMapping._meta.get_field("holding").is_cached(row):
            yield Kind.MAPPINGS, str(row.holding.prefix)
        case Holding():
            yield (Kind.ADDRESSES if row.prefix.version == 4 else Kind.PREFIXES), str(row.prefix)
        case Ban():
            yield Kind.BANS, str(row.prefix)
            yield Kind.BLOCKS, str(row.prefix)
        case Block():
            yield Kind.BLOCKS, effects.block_key(row.pk)
        case AllowEntry():
            yield Kind.ALLOWED, str(row.prefix)


# --- A hold, a gateway, a rollout


def _reason(gateway: _Stands, worker: Waits | None) -> Waits | None:
    given = {"gateway": gateway.name, "held": f"r{gateway.held_at}", "revision": f"r{gateway.revision}"}
    if gateway.held_at:
        words = _("waits until the hold at %(held)s is released") % given
        return Waits(words, reverse("deployments:release", args=[gateway.group]), person=True)
    if gateway.silent_since:
        since = formats.moment(gateway.silent_since, timezone.now(), with_zone=True, with_seconds=False)
        words = _("waits for %(gateway)s, which has not answered since %(time)s") % (given | {"time": since})
        return Waits(words, _page(gateway))
    paused = gateway.state == Rollout.State.PAUSED
    return (None if paused else worker) or _of_rollout(gateway, given) or _of_error(gateway, given)


def _of_worker() -> Waits | None:
    """Nobody is there who would bring it to the gateways."""
    is_away, since = heartbeats.away(Role.WORKER, timezone.now())
    if not is_away:
        return None
    words = _("waits: no deploy worker has reported yet")
    if since:
        words = _("waits: no deploy worker since %(time)s") % {"time": formats.moment(since, timezone.now(), with_zone=True)}
    return Waits(words, _system_page(), person=True)


def _system_page() -> str:
    try:
        return reverse("desk:system")
    except NoReverseMatch:
        return ""


def _of_rollout(gateway: _Stands, given: Mapping[str, str]) -> Waits | None:
    if gateway.rollout is None or gateway.state == Rollout.State.CONFIRMED:
        return None
    url = reverse("deployments:rollout", args=[gateway.rollout])
    if gateway.state == Rollout.State.PAUSED:
        return Waits(_("waits until the rollout of %(revision)s goes on: it is paused") % given, url, person=True)
    if gateway.state in Rollout.OPEN:
        return Waits(_("waits for the rollout of %(revision)s, which is under way") % given, url)
    if gateway.step in (None, RolloutStep.State.CONFIRMED):
        return None
    if gateway.step == RolloutStep.State.IMPAIRED:
        return Waits(_("not on %(gateway)s yet: it has a fault of its own") % given, url, person=True)
    return Waits(_("not on %(gateway)s: the rollout of %(revision)s went wrong") % given, url, person=True)


def _of_error(gateway: _Stands, given: Mapping[str, str]) -> Waits | None:
    return Waits(_("not deployed: see %(gateway)s") % given, _page(gateway), person=True) if gateway.error else None


def _page(gateway: _Stands) -> str:
    try:
        return reverse("gateways:gateway", args=[gateway.pk])
    except NoReverseMatch:
        return ""
