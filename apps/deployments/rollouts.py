"""Rollouts in the database: opened, claimed, carried on, finished, by conditional updates. Knows nothing of the wire."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import timedelta

from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState, Revision, Rollout, RolloutStep
from apps.deployments.wanted import Wanted
from apps.network.models import Gateway, GatewayGroup
from firewall.summary import Line

LEASE = timedelta(seconds=90)  # longer than a gateway may take for one step; renewed before each
OPENING_ATTEMPTS = 3
SHOWN_DELTA = 256 * 1024


def open_rollout(group: GatewayGroup, wanted: Wanted, gateways: Iterable[Gateway], *, by: int | None, cause: str) -> Rollout | None:
    """A new revision and its rollout, queued. None while another rollout of the group is open: that one is told to look again."""
    for _attempt in range(OPENING_ATTEMPTS):
        if Rollout.objects.filter(group=group, state__in=Rollout.OPEN).update(again=True):
            return None
        try:
            return _opened(group, wanted, list(gateways), by=by, cause=cause)
        except IntegrityError as error:  # somebody else opened one just now
            if "rollout_one_at_a_time" not in str(error):
                raise
    return None


def _opened(group: GatewayGroup, wanted: Wanted, gateways: list[Gateway], *, by: int | None, cause: str) -> Rollout:
    with transaction.atomic():
        revision = Revision.objects.create(
            group=group,
            snapshot=wanted.snapshot.seen,
            by=get_user_model().objects.filter(pk=by).first() if by else None,
            cause=cause,
            digests={gateway.name: wanted.targets[gateway.pk] for gateway in gateways},
        )
        rollout = Rollout.objects.create(group=group, revision=revision, lease_until=Now() + LEASE)
        steps = [RolloutStep(rollout=rollout, gateway=gateway, position=at) for at, gateway in enumerate(gateways)]
        RolloutStep.objects.bulk_create(steps)
    return rollout


def claim(rollout: Rollout) -> bool:
    """Take a queued rollout; its fencing token is higher than any before. False when somebody else did."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('deployments_token')")
        (token,) = cursor.fetchone()
    taken = Rollout.objects.filter(pk=rollout.pk, state=Rollout.State.QUEUED)
    if taken.update(state=Rollout.State.APPLYING, token=token, lease_until=Now() + LEASE) != 1:
        return False
    rollout.refresh_from_db()
    return True


def renew(rollout: Rollout) -> bool:
    """Keep the lease. False when it was lost: then stop, another worker goes on."""
    mine = Rollout.objects.filter(pk=rollout.pk, state=Rollout.State.APPLYING, token=rollout.token)
    return mine.update(lease_until=Now() + LEASE) == 1


def describe(revision: Revision, changes: Iterable[Line], delta: str, elements: int) -> None:
    """Keep with the revision what it changes, in numbers and as nft text."""
    revision.changes = [asdict(line) for line in changes]
    revision.delta = delta[:SHOWN_DELTA].replace("\0", "")
    revision.elements = elements
    revision.save(update_fields=["changes", "delta", "elements"])


def sending(step: RolloutStep) -> None:
    """The gateway's turn has come."""
    RolloutStep.objects.filter(pk=step.pk).update(state=RolloutStep.State.APPLYING, sent=Now())


def committed(step: RolloutStep, *, octets: int, commit_ms: int, read_back_ms: int) -> None:
    """The gateway committed and read back."""
    RolloutStep.objects.filter(pk=step.pk).update(committed=Now(), sent_octets=octets, commit_ms=commit_ms, read_back_ms=read_back_ms)


def confirmed(step: RolloutStep, wanted: Wanted, *, in_memory: bool) -> None:
    """The gateway runs the revision, and will after a reboot."""
    revision = step.rollout.revision
    with transaction.atomic():
        RolloutStep.objects.filter(pk=step.pk).update(state=RolloutStep.State.CONFIRMED, confirmed=Now(), error="")
        GatewayState.objects.update_or_create(
            gateway=step.gateway,
            defaults={
                "digest": wanted.targets[step.gateway.pk],
                "revision": revision,
                "snapshot": revision.snapshot,
                "since": Now(),
                "seen": Now(),
                "in_memory": in_memory,
                "unreachable_since": None,
                "error": "",
            },
        )


def failed(step: RolloutStep, text: str, *, unreachable: bool) -> None:
    """The gateway did not get there; what it runs has not changed."""
    RolloutStep.objects.filter(pk=step.pk).update(state=RolloutStep.State.FAILED, error=text, unreachable=unreachable)
    state, _created = GatewayState.objects.get_or_create(gateway=step.gateway)
    if not unreachable:
        GatewayState.objects.filter(pk=state.pk).update(error=text, seen=Now(), unreachable_since=None)
    else:
        GatewayState.objects.filter(pk=state.pk, unreachable_since=None).update(unreachable_since=Now())
        GatewayState.objects.filter(pk=state.pk).update(error=text)


def finish(rollout: Rollout) -> bool:
    """Close the rollout by what its steps say. True when something changed meanwhile, so that it is worth looking again."""
    missed = rollout.steps.select_related("gateway").exclude(state=RolloutStep.State.CONFIRMED)
    bad = [f"{step.gateway.name}: {step.error}" for step in missed]
    state = Rollout.State.FAILED if bad else Rollout.State.CONFIRMED
    Rollout.objects.filter(pk=rollout.pk, token=rollout.token).update(state=state, finished=Now(), lease_until=None, error="\n".join(bad))
    rollout.refresh_from_db()
    return rollout.again


def abandon_expired(group: GatewayGroup) -> int:
    """Close rollouts whose worker is gone. How many there were; what is still due opens a new one."""
    gone = Rollout.objects.filter(group=group, state__in=Rollout.OPEN, lease_until__lt=Now())
    text = _("The worker that carried this rollout ended before it was done. What was missing went out with the next one.")
    return gone.update(state=Rollout.State.FAILED, finished=Now(), lease_until=None, error=text)


def still_true(wanted: Wanted) -> None:
    """Nothing has to be deployed: what the gateways run is also true to this newer snapshot."""
    for pk, target in wanted.targets.items():
        GatewayState.objects.filter(gateway=pk, digest=target).update(snapshot=wanted.snapshot.seen, error="")


def not_deployable(group: GatewayGroup, text: str) -> None:
    """What the database asks for must not be deployed; the gateways go on with what they run, and their pages say why."""
    GatewayState.objects.filter(gateway__group=group).update(error=text)
