"""Pages of one's own account: overview, shortcuts and sessions."""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.accounts import keyboard_shortcuts, sessions, tokens
from apps.accounts.permissions import get_signed_in_user, has_right
from apps.accounts.roles import Right, Role


def account(request: HttpRequest) -> HttpResponse:
    """Show the user's own account, with links to the other pages."""
    user = get_signed_in_user(request)
    context = {
        "roles": [Role(each).label for each in user.roles],
        "address": EmailAddress.objects.get_primary(user) or user.email,
        "factors": Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.RECOVERY_CODES).count(),
        "may_invite": has_right(user, Right.MANAGE_ACCOUNTS),
        "tokens": user.tokens.count(),
        "sessions": len(sessions.list_sessions(request, user)),
    }
    return render(request, "accounts/account.html", context)


@require_POST
def switch_keyboard_shortcuts(request: HttpRequest) -> HttpResponse:
    """Turn single-key shortcuts on or off."""
    keyboard_shortcuts.switch_shortcuts(get_signed_in_user(request), request.POST.get("keys") == "on")
    return redirect(f"{reverse('accounts:account')}#single-keys")


def session_list(request: HttpRequest) -> HttpResponse:
    """List the user's own sessions."""
    user = get_signed_in_user(request)
    return render(
        request, "accounts/sessions.html", {"sessions": sessions.list_sessions(request, user), "has_tokens": user.tokens.exists()}
    )


@require_POST
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign out one of the user's own sessions."""
    if not sessions.end_session(user=get_signed_in_user(request), pk=pk):
        raise Http404("not a session of this account")
    messages.success(request, _("That device is signed out."))
    return redirect("accounts:sessions")


@require_POST
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    """Sign out all of the user's sessions but this one; and, if that is ticked, revoke all their tokens."""
    count = sessions.end_all_sessions(user=get_signed_in_user(request), but=request.session.session_key)
    if request.POST.get("tokens") == "1":
        tokens.revoke_all_tokens(user=get_signed_in_user(request))
    messages.success(
        request, ngettext("%(count)s other device is signed out.", "%(count)s other devices are signed out.", count) % {"count": count}
    )
    return redirect("accounts:sessions")
