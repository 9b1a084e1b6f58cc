from django.apps import AppConfig


class StatusConfig(AppConfig):
    name = "apps.status"

    def ready(self) -> None:
        from django.urls import reverse
        from django.utils.translation import gettext_lazy as _

        from apps.audit.trail import UNSHOWN, TrailPresentation, register_trail
        from apps.lib.web import navigation
        from apps.mail import notice_kinds
        from apps.status.incidents.models import Incident
        from apps.status.incidents.selectors import count_open_incidents
        from apps.status.incidents.ticket_subject import find_incident
        from apps.status.subscriptions.services import NOTICE
        from apps.tickets.subjects import register_subject

        register_trail(
            TrailPresentation(Incident, called=_("Incident"), href=lambda row: reverse("status:incident", args=[row.pk]), unshown=UNSHOWN)
        )
        notice_kinds.register_kind(NOTICE, _("Updates of the status page"), for_staff=True)
        navigation.register_counter("status:incidents")(count_open_incidents)
        register_subject(find_incident)
