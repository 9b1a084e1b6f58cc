from django.apps import AppConfig


class AlarmsConfig(AppConfig):
    name = "apps.alarms"

    def ready(self) -> None:
        from django.urls import reverse
        from django.utils.translation import gettext_lazy as _

        from apps.alarms.channels.models import AlarmChannel
        from apps.alarms.duty.board_fact import describe_on_duty
        from apps.alarms.duty.models import DutyCalendar, DutyShift
        from apps.alarms.incident_timeline import iter_alarm_entries
        from apps.alarms.notices import KIND
        from apps.alarms.selectors import count_open_alarms
        from apps.alarms.webhook_events import KIND as KIND_OF_WEBHOOKS
        from apps.audit.trail import UNSHOWN, TrailPresentation, register_trail
        from apps.desk.selectors import board_facts
        from apps.lib.web import navigation
        from apps.mail import notice_kinds
        from apps.status.incidents import timeline
        from apps.webhooks.subscribable_kinds import register_kind

        register_trail(
            TrailPresentation(
                AlarmChannel, called=_("Channel for alarms"), href=lambda row: reverse("alarms:channel", args=[row.pk]), unshown=UNSHOWN
            )
        )
        register_kind(KIND_OF_WEBHOOKS)
        register_trail(TrailPresentation(DutyShift, called=_("Shift"), href=lambda _row: reverse("alarms:duty"), unshown=UNSHOWN))
        register_trail(
            TrailPresentation(
                DutyCalendar, called=_("Calendar of shifts"), href=lambda row: reverse("alarms:calendar", args=[row.pk]), unshown=UNSHOWN
            )
        )
        notice_kinds.register_kind(KIND, _("Mails to network administrators about alarms"), for_staff=True)
        navigation.register_counter("alarms:list")(count_open_alarms)
        timeline.register_source(iter_alarm_entries)
        board_facts.register_fact(describe_on_duty)
