"""The panel of a member's port forwards. Each response is the panel again, or without HTMX the member's page."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Conflict, Problem
from apps.lib.web.query_params import parse_number
from apps.members.models import Member
from apps.nat import forwards_panel, services
from apps.nat.forms import ForwardForm
from apps.nat.models import PortForward
from apps.nat.selectors import list_member_forwards


def _get_member(pk: int) -> Member:
    return get_object_or_404(Member.objects.select_related("tariff"), pk=pk)


def _render_answer(request: HttpRequest, member: Member, **shown: Any) -> HttpResponse:
    """Respond to HTMX with the panel; to a browser without it with a redirect to the member's page, and what was saved in its URL."""
    wrong = shown.get("form") or shown.get("problem")
    if request.headers.get("HX-Request") or wrong:
        status = 422 if wrong else 200
        template = "nat/forwards.html#panel" if request.headers.get("HX-Request") else "nat/forwards.html"
        return render(request, template, forwards_panel.build_forwards_context(member, **shown), status=status)
    said = "&".join(f"{name}={pk}" for name, pk in shown.items() if pk)
    return redirect(f"{reverse('desk:member', args=[member.pk])}?{said}#forwards")


@staff_page
def forwards(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the panel; it polls this URL while a gateway does not have the change."""
    return _render_answer(request, _get_member(pk), saved=parse_number(request.GET, "saved"), removed=parse_number(request.GET, "removed"))


@staff_page
@require_POST
def add(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a forward."""
    member = _get_member(pk)
    form = ForwardForm(member, data=request.POST)
    if not form.is_valid():
        return _render_answer(request, member, form=form)
    try:
        forward = services.add_forward(by=request.user, until=form.get_end(), **form.to_kwargs())  # type: ignore[arg-type]  # staff_page: signed in
    except Problem as problem:
        form.offer = form.format_offered_ports(problem.offer)
        form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
        return _render_answer(request, member, form=form)
    return _render_answer(request, member, saved=forward.pk)


def _get_forward(pk: int) -> PortForward:
    return get_object_or_404(PortForward.objects.select_related("holding__member__tariff", "holding__group"), pk=pk)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a forward. After a conflict, show what the other user made of it."""
    forward = _get_forward(pk)
    member = forward.holding.member
    form = ForwardForm(member, request.POST if request.method == "POST" else None, forward)
    shown: dict[str, Any] = {
        "forward": forward,
        "member": member,
        "form": form,
        "over": not list_member_forwards(member).filter(pk=pk).exists(),
    }
    if form.is_valid():
        version = form.cleaned_data["version"] or 0
        try:
            changed = form.to_kwargs() | {"until": form.get_changed_end()}
            saved = services.change_or_replace_forward(forward=forward, version=version, by=get_signed_in_user(request), **changed)
            return redirect(f"{reverse('desk:member', args=[member.pk])}?saved={saved.pk}#forwards")
        except Problem as problem:
            form.offer = form.format_offered_ports(problem.offer)
            form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
            if isinstance(problem, Conflict):
                shown["now"] = forward
                form.data = {
                    **request.POST.dict(),
                    "forward-version": str(forward.version),
                }  # the next save replaces the other user's change
    return render(request, "nat/forward_edit.html", shown, status=422 if form.is_bound else 200)


@staff_page
@require_POST
def switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch a forward on or off; its ports stay reserved."""
    forward = _get_forward(pk)
    try:
        services.change_forward(
            forward=forward,
            version=parse_number(request.POST, "version"),
            private_port=forward.private_port,
            purpose=forward.purpose,
            enabled=request.POST.get("enabled") == "1",
            by=request.user,  # type: ignore[arg-type]  # staff_page: signed in
        )
    except Problem as problem:
        return _render_answer(request, forward.holding.member, problem=str(problem))
    return _render_answer(request, forward.holding.member, saved=forward.pk)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what removing does, then do it on POST."""
    forward = _get_forward(pk)
    if request.method != "POST":
        return render(request, "nat/remove.html", {"forward": forward, "member": forward.holding.member})
    services.remove_forward(forward=forward, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    return _render_answer(request, forward.holding.member, removed=forward.pk)


@staff_page
@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo a removal."""
    forward = _get_forward(pk)
    member = forward.holding.member
    try:
        again = services.restore_forward(forward=forward, by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    except Problem as problem:
        return _render_answer(request, member, problem=str(problem))
    return _render_answer(request, member, saved=again.pk)
