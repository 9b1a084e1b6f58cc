"""Checks of mail in the first steps: out and in, each seen to arrive."""

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.desk.first_steps.finding import StepFinding
from apps.inbound_mail.mailbox_health import find_mailbox_outage
from apps.inbound_mail.models import Arrival
from apps.lib.ui import formats
from apps.mail.outbound_check import find_outbound_check
from apps.mail.selectors import find_last_sent_time, summarize_late_mails


def check_mail_out(_user: User) -> StepFinding:
    """Find whether the mail server takes mail: by the last test mail, else by any mail that was sent."""
    tested, late, sent = find_outbound_check(), summarize_late_mails(timezone.now()), find_last_sent_time()
    if tested and not tested.taken:
        return StepFinding(False, tested.words)
    if late:
        words = _("Mail waits in the outbox since %(time)s.") % {"time": formats.format_moment(late.since, timezone.now())}
        return StepFinding(False, words)
    if not settings.MAIL_SERVER["host"]:
        return StepFinding(False, _("NETZWART_MAIL_SERVER is not set, so no mail is sent."))
    if tested:
        return StepFinding(True, tested.words)
    if sent:
        return StepFinding(True, _("The last mail was sent at %(time)s.") % {"time": formats.format_moment(sent, timezone.now())})
    return StepFinding(False, _("No mail has been sent yet."))


def check_mail_in(_user: User) -> StepFinding:
    """Find whether mail to the network's address arrives."""
    if not settings.SUPPORT_ADDRESS:
        return StepFinding(False, _("NETZWART_SUPPORT_ADDRESS is not set, so mails of the portal cannot be answered."))
    if outage := find_mailbox_outage(timezone.now()):
        words = _("The mailbox %(place)s could not be fetched completely: %(error)s")
        return StepFinding(False, words % {"place": outage.place, "error": outage.error or _("no worker has tried lately")})
    last = Arrival.objects.defer("octets").order_by("-id").first()
    if last is None:
        return StepFinding(False, _("Write a mail to %(address)s. Its arrival appears here.") % {"address": settings.SUPPORT_ADDRESS})
    given = {"time": formats.format_moment(last.arrived, timezone.now()), "address": settings.SUPPORT_ADDRESS}
    if last.state == Arrival.State.QUARANTINED:
        url = reverse("inbound:arrival", args=[last.pk])
        return StepFinding(False, _("The last mail arrived at %(time)s and could not be read.") % given, url)
    return StepFinding(True, _("The last mail arrived at %(time)s. To test again, write to %(address)s.") % given)
