from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class DeploymentsConfig(AppConfig):
    name = "apps.deployments"

    def ready(self) -> None:
        from apps.deployments.observed_state import navigation_status
        from apps.deployments.selectors import activations
        from apps.lib.activation import register
        from apps.lib.web import context_processors, navigation

        register(activations)
        context_processors.says_what_runs(navigation_status.what_runs)
        navigation.counts("deployments:rollouts")(navigation_status.asking)
        _tell_history()


def _tell_history() -> None:
    from apps.audit.trail import UNSHOWN, Trail, tell
    from apps.deployments.approvals import texts
    from apps.deployments.models import HeldBack, Hold

    unshown = UNSHOWN | {"group", "digest", "baseline", "earlier"}
    approval = {"state": _("state"), "decided": _("decided"), "decided_by": _("decided by"), "alone": _("approved alone, signed in again")}
    approval |= {"reason": _("reason"), "asker_unknown": _("asked by somebody unknown")}
    hold = {"released": _("released"), "released_by": _("released by"), "alone": _("alone, signed in again")}
    tell(Trail(HeldBack, words=texts.title, href=_held_page, called=_("Approval"), unshown=unshown, fields=approval))
    tell(Trail(Hold, words=_hold_words, href=_revision_page, called=_("Hold"), unshown=unshown, fields=hold))


def _hold_words(row: Any) -> str:
    return f"{row.revision}: {row.why}"


def _revision_page(row: Any) -> str:
    return reverse("deployments:revision", args=[row.revision_id])


def _held_page(row: Any) -> str:
    return reverse("deployments:held", args=[row.pk])
