"""Reasons why a change is pending on a gateway: an approval, a hold, a silent gateway, or a rollout.

Takes rows, their activations and how the gateways stand, and returns the activations with reasons. Costs one more query if something is
pending, however many rows there are; each process reads the elements of a held-back part only once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.deployments.approvals import effects
from apps.deployments.models import Rollout, RolloutStep
from apps.deployments.observed_state.gateway_standings import GatewayStanding
from apps.deployments.rule_kinds.registry import KINDS
from apps.lib.activation import Activation, WaitReason
from apps.lib.models import Deployed
from apps.lib.ui import formats
from apps.operations import heartbeats
from apps.operations.models import ProcessRole
from firewall.sets import ObjectKind


def add_pending_reasons(
    rows: Sequence[Deployed], found: Sequence[list[Activation]], standings: Sequence[GatewayStanding]
) -> list[list[Activation]]:
    """Add a reason to each missing activation. What is held back counts as missing, whatever has been deployed since.

    found: the activations of each row.
    """
    held = _list_held_parts(rows, standings)
    pending = {each.gateway for known in found for each in known if not each.since}
    worker = _find_worker_reason() if pending else None
    reasons = {each.name: _find_reason(each, worker) for each in standings if each.name in pending}
    return [
        [_explain_activation(each, part, reasons) if not each.since or part else each for each in known]
        for part, known in zip(held, found, strict=True)
    ]


def _explain_activation(activation: Activation, held: int | None, reasons: Mapping[str, WaitReason | None]) -> Activation:
    """Return the activation as missing, with its reason. reasons: by gateway, for what is not held back."""
    if held:
        words = _("waits for a second person’s approval")
        return Activation(activation.gateway, None, WaitReason(words, reverse("deployments:held", args=[held]), person=True))
    return Activation(activation.gateway, None, reasons.get(activation.gateway))


# --- Approvals


def _list_held_parts(rows: Sequence[Deployed], standings: Iterable[GatewayStanding]) -> list[int | None]:
    """Return for each row the id of the part in which its removal or addition is held back."""
    parts = {tuple(part.split()) for gateway in standings for part in gateway.parts}
    if not parts:
        return [None] * len(rows)
    keys = {(ObjectKind(kind), key): int(pk) for pk, kind, digest in parts for key in effects.list_affected_keys(int(pk), digest)}
    return [next((keys[key] for key in _iter_keys(row) if key in keys), None) for row in rows]


def _iter_keys(row: Deployed) -> Iterator[tuple[ObjectKind, str]]:
    """Yield keys like `AffectedThing.key`, from the row's own columns."""
    for kind in KINDS.values():
        for model, build_key in kind.row_keys.items():
            if isinstance(row, model) and (key := build_key(row)):
                yield kind.kind, key


# --- Holds, gateways, rollouts


def _find_reason(gateway: GatewayStanding, worker: WaitReason | None) -> WaitReason | None:
    given = {"gateway": gateway.name, "held": f"r{gateway.held_at}", "revision": f"r{gateway.revision}"}
    if not gateway.live:
        return WaitReason(_("waits until the group goes live"), reverse("deployments:plan", args=[gateway.group]), person=True)
    if gateway.restored:
        return WaitReason(_("waits until somebody agrees to the restored database"), reverse("deployments:restored"), person=True)
    if gateway.held_at:
        words = _("waits until the hold at %(held)s is released") % given
        return WaitReason(words, reverse("deployments:release", args=[gateway.group]), person=True)
    if gateway.silent_since:
        since = formats.format_moment(gateway.silent_since, timezone.now(), with_zone=True, with_seconds=False)
        words = _("waits for %(gateway)s, which has not answered since %(time)s") % (given | {"time": since})
        return WaitReason(words, _build_gateway_url(gateway))
    paused = gateway.state == Rollout.State.PAUSED
    return (None if paused else worker) or _find_rollout_reason(gateway, given) or _find_error_reason(gateway, given)


def _find_worker_reason() -> WaitReason | None:
    """Return a reason if no deploy worker runs."""
    is_away, since = heartbeats.get_role_outage(ProcessRole.WORKER, timezone.now())
    if not is_away:
        return None
    words = _("waits: no deploy worker has reported yet")
    if since:
        words = _("waits: no deploy worker since %(time)s") % {"time": formats.format_moment(since, timezone.now(), with_zone=True)}
    return WaitReason(words, _build_system_url(), person=True)


def _build_system_url() -> str:
    try:
        return reverse("desk:system")
    except NoReverseMatch:
        return ""


def _find_rollout_reason(gateway: GatewayStanding, given: Mapping[str, str]) -> WaitReason | None:
    if gateway.rollout is None or gateway.state == Rollout.State.CONFIRMED:
        return None
    url = reverse("deployments:rollout", args=[gateway.rollout])
    if gateway.state == Rollout.State.PAUSED:
        return WaitReason(_("waits until the rollout of %(revision)s goes on: it is paused") % given, url, person=True)
    if gateway.state in Rollout.OPEN:
        return WaitReason(_("waits for the rollout of %(revision)s, which is under way") % given, url)
    if gateway.step in (None, RolloutStep.State.CONFIRMED):
        return None
    if gateway.step == RolloutStep.State.IMPAIRED:
        return WaitReason(_("not on %(gateway)s yet: fault on the gateway") % given, url, person=True)
    return WaitReason(_("not on %(gateway)s: the rollout of %(revision)s failed") % given, url, person=True)


def _find_error_reason(gateway: GatewayStanding, given: Mapping[str, str]) -> WaitReason | None:
    return WaitReason(_("not deployed: see %(gateway)s") % given, _build_gateway_url(gateway), person=True) if gateway.error else None


def _build_gateway_url(gateway: GatewayStanding) -> str:
    try:
        return reverse("gateways:gateway", args=[gateway.pk])
    except NoReverseMatch:
        return ""
