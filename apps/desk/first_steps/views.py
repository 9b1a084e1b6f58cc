"""Page of the first steps, and the test mail that it sends."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.desk.first_steps.steps import check_steps
from apps.lib.errors import Conflict, Problem
from apps.mail.outbound_check import send_test_mail


@staff_page
def first_steps(request: HttpRequest) -> HttpResponse:
    """Show what is still missing before members reach the internet. The page polls itself until everything is done."""
    part = "#steps" if request.headers.get("HX-Target") == "steps" else ""
    return render(request, f"desk/first_steps/steps.html{part}", {"shown": check_steps(get_signed_in_user(request))})


@staff_page
@require_POST
def send_mail(request: HttpRequest) -> HttpResponse:
    """Send a test mail to the person's own address. Its outcome appears on the page."""
    try:
        mail = send_test_mail(by=get_signed_in_user(request))
        messages.success(request, _("The test mail to %(address)s is in the outbox. Its outcome appears below.") % {"address": mail.to})
    except Conflict as conflict:
        messages.warning(request, str(conflict))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("desk:first-steps")
