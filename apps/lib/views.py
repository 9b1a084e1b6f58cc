"""The theme switch, and the style guide in development."""

from django.conf import settings
from django.contrib.auth.decorators import login_required, user_passes_test
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from apps.lib.ui import style_guide_data
from apps.lib.web import navigation
from apps.lib.web.context_processors import THEME_COOKIE, THEMES

YEAR = 365 * 24 * 3600


@require_POST
def switch_theme(request: HttpRequest) -> HttpResponse:
    """Store light, dark or auto in a cookie and return to the previous page."""
    after = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(after, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    target = after if safe else resolve_url(settings.LOGIN_REDIRECT_URL)
    response = HttpResponseRedirect(target)  # redirect() would take a word for the name of a route
    chosen = request.POST.get("theme")
    if chosen in THEMES:
        response.set_cookie(THEME_COOKIE, chosen, max_age=YEAR, samesite="Lax", httponly=True, secure=settings.SESSION_COOKIE_SECURE)
    return response


@login_required
@user_passes_test(navigation.is_staff_user)
def style_guide(request: HttpRequest, name: str = "parts") -> HttpResponse:
    """Show every component in all its states, and sample pages with made-up data."""
    if name not in style_guide_data.PAGES:
        raise Http404(name)
    return render(request, f"lib/styleguide/{name}.html", style_guide_data.PAGES[name]())
