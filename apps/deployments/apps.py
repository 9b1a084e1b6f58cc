from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class DeploymentsConfig(AppConfig):
    name = "apps.deployments"

    def ready(self) -> None:
        from apps.deployments.approvals.held_management import list_held_interfaces
        from apps.deployments.observed_state import navigation_status
        from apps.deployments.selectors import list_activations
        from apps.lib.activation import register_lookup
        from apps.lib.web import context_processors, navigation
        from apps.network.held_interfaces import register_held_interfaces

        register_lookup(list_activations)
        register_held_interfaces(list_held_interfaces)
        context_processors.register_running_lookup(navigation_status.summarize_worst_group)
        navigation.register_counter("deployments:rollouts")(navigation_status.build_navigation_count)
        _register_history()


def _register_history() -> None:
    from apps.audit.trail import UNSHOWN, TrailPresentation, register_trail
    from apps.deployments.approvals import texts
    from apps.deployments.models import DatabaseRestore, HeldBack, Hold

    unshown = UNSHOWN | {"group", "digest", "baseline", "earlier"}
    approval = {
        "state": _("state"),
        "decided": _("decided"),
        "decided_by": _("decided by"),
        "alone": _("approved alone, after signing in again"),
    }
    approval |= {"reason": _("reason"), "asker_unknown": _("requested by an unknown person")}
    hold = {"released": _("released"), "released_by": _("released by"), "alone": _("alone, after signing in again")}
    register_trail(
        TrailPresentation(
            HeldBack, words=texts.render_title, href=_build_held_back_url, called=_("Approval"), unshown=unshown, fields=approval
        )
    )
    register_trail(
        TrailPresentation(Hold, words=_render_revision_hold, href=_build_revision_url, called=_("Hold"), unshown=unshown, fields=hold)
    )
    register_trail(TrailPresentation(DatabaseRestore, words=str, href=_build_restore_url, called=_("Restore"), unshown=UNSHOWN, fields={}))


def _render_revision_hold(row: Any) -> str:
    return f"{row.revision}: {row.why}"


def _build_restore_url(_row: Any) -> str:
    return reverse("deployments:restored")


def _build_revision_url(row: Any) -> str:
    return reverse("deployments:revision", args=[row.revision_id])


def _build_held_back_url(row: Any) -> str:
    return reverse("deployments:held", args=[row.pk])
