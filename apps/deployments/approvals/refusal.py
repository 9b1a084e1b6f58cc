"""Refusals: undo a held-back change for a reason, so that the database no longer asks for it, and notify the askers."""

import pghistory
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.approvals import notifications, restoration, texts
from apps.deployments.models import HeldBack
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem


@transaction.atomic
def refuse_part(held: HeldBack, *, digest: str, reason: str, by: User) -> list[str]:
    """Undo exactly what `digest` stands for. Return texts about what could not be undone. Raises Conflict when something else
    waits by now.

    The askers may refuse it too: a refusal changes nothing on the gateways.
    """
    if not reason.strip():
        raise Problem(_("Enter a reason for the people who requested it."), "reason")
    title = texts.render_title(held)
    there = HeldBack.objects.filter(pk=held.pk, digest=digest, state=HeldBack.State.WAITING)
    given = {"decided": Now(), "decided_by": by, "reason": reason.strip()[:200]}
    if there.update(state=HeldBack.State.REFUSED, **given) != 1:
        raise Conflict(_("This has changed or been decided since you opened the page. Look at it again."))
    held.refresh_from_db()
    with pghistory.context(reason=reason.strip()[:200]):
        left = restoration.undo_held_back_part(held, by=by)
    notifications.notify_of_refusal(held, title=title)
    enqueue_task("workers.reconcile", by.pk, False)
    return left
