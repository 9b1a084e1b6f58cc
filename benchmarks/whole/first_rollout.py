"""First rollout of a benchmark. It has to be confirmed: a failed one is also at rest, and every later figure would mislead."""

from apps.accounts.models import User
from apps.deployments.models import Rollout
from apps.deployments.services import request_reconcile
from benchmarks.whole.stack import say, wait_until

LONGEST = 3600.0  # seconds; a first load of 100,000 members takes long on a slow machine


def bring_first_rollout(by: User) -> None:
    """Request the first rollout, and wait until all gateways have confirmed it. Raises SystemExit if one has not."""
    request_reconcile(by=by)
    wait_until(is_at_rest, "The first rollout", seconds=LONGEST)
    newest = Rollout.objects.order_by("-pk")[0]
    if newest.state != Rollout.State.CONFIRMED:
        raise SystemExit(f"The first rollout was not confirmed but {newest.state}: {newest.error}")
    say("The first rollout is confirmed.")


def is_at_rest() -> bool:
    """Whether no rollout is open and the newest one is processed; False if there is no rollout."""
    newest = Rollout.objects.select_related("revision__content").order_by("-pk").first()
    return newest is not None and newest.state not in Rollout.OPEN and hasattr(newest.revision, "content")
