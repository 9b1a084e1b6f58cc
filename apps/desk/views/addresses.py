"""Pages of address pools, their usage, and address lookups."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.models import User
from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.undo_page import answer_undo
from apps.audit.models import Enquiry
from apps.audit.selectors import list_row_history
from apps.desk.address_lookup_log import record_and_answer_lookup
from apps.desk.selectors import addresses as reading
from apps.lib.errors import Problem
from apps.lib.row_uses import list_uses
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.web.paginators import CountedPaginator, DeferredJoinPaginator
from apps.nat.pool_sharing import change_sharing, plan_sharing
from apps.nat.selectors import count_members_by_address
from apps.network import pool_removal, services
from apps.network.forms import HolderLookupForm, NewPoolForm, PoolForm
from apps.network.kept_free import count_kept_shares
from apps.network.models import GatewayGroup, Pool
from apps.network.selectors import list_pool_holdings

PER_PAGE = 50


@staff_page
def addresses(request: HttpRequest) -> HttpResponse:
    """Show all pools, and the form of the address lookup."""
    pools = reading.list_pool_usage()
    return render(request, "network/addresses.html", {"pools": pools, "form": HolderLookupForm(), "groups": GatewayGroup.objects.exists()})


@staff_page
def address_lookup(request: HttpRequest) -> HttpResponse:
    """Look up who had an address at a time.

    GET only fills in the form. The answer needs a reason, and the lookup is recorded.
    """
    asked = request.method == "POST"
    form, answer = HolderLookupForm(request.POST) if asked else HolderLookupForm(initial=request.GET.dict()), None
    if form.is_valid():
        wanted = form.cleaned_data
        question = {"address": wanted["address"], "port": wanted["port"], "at": form.get_moment(timezone.now()), "reason": wanted["reason"]}
        try:
            _noted, answer = record_and_answer_lookup(**question, by=get_signed_in_user(request))
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "network/held.html", {"form": form, "answer": answer}, status=422 if form.errors else 200)


@staff_page
def enquiries(request: HttpRequest) -> HttpResponse:
    """Show the recorded lookups with who asked and why, the newest first."""
    page = Paginator(Enquiry.objects.select_related("by"), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "audit/enquiries.html", {"page": page})


@staff_page
def pool(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a pool with its holdings or, for a public pool, the members who leave as its addresses."""
    found = get_object_or_404(Pool.objects.select_related("group"), pk=pk)
    shown = reading.build_pool_usage(found)
    grouped = found.kind == Pool.Kind.PUBLIC4
    pages = (
        CountedPaginator(shown.used, count_members_by_address(found), PER_PAGE)
        if grouped
        else DeferredJoinPaginator(list_pool_holdings(found), PER_PAGE, count=shown.used)
    )
    context = {
        "shown": shown,
        "pool": found,
        "page": pages.get_page(request.GET.get("page")),
        "history": list_row_history(found, 8),
        "kept": count_kept_shares(found),
        "suitable": reading.compute_block_size(found) if grouped else None,
    }
    return render(request, "network/pool.html", context)


@staff_page
def add_pool(request: HttpRequest) -> HttpResponse:
    """Add a pool."""
    form = NewPoolForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        wanted = {name: value for name, value in form.cleaned_data.items() if name != "version"}
        try:
            made = services.add_pool(by=get_signed_in_user(request), **wanted)
            messages.success(request, _("The pool %(pool)s has been added. Members can get addresses from it.") % {"pool": made})
            return redirect("network:addresses")
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "network/pool_add.html", {"form": form}, status=422 if form.errors else 200)


@transaction.atomic
def _change(pool: Pool, wanted: dict[str, Any], by: User) -> None:
    """Change the pool and its sharing: both or neither."""
    changes = {name: wanted[name] for name in ("name", "prefix", *PoolForm.INSIDE_ONLY) if name in wanted}
    services.change_pool(pool=pool, version=wanted["version"] or 0, by=by, **changes)
    if "sharing" in wanted:
        change_sharing(pool=pool, sharing=wanted["sharing"], block_size=wanted["block_size"], by=by)


def _build_preview(pool: Pool, wanted: dict[str, Any]) -> reading.SharingChangePreview | None:
    """Return the mappings that the new sharing would make, None if there is nothing to change. Raises Problem if it is impossible."""
    if "sharing" not in wanted:
        return None
    planned = plan_sharing(pool=pool, sharing=wanted["sharing"], block_size=wanted["block_size"])
    return reading.build_sharing_change_preview(planned) if planned else None


@staff_page
def edit_pool(request: HttpRequest, pk: int) -> HttpResponse:
    """Rename, grow or shrink a pool. Before the sharing changes, show as what each member would leave."""
    found = get_object_or_404(Pool.objects.select_related("group"), pk=pk)
    proposed = {} if request.method == "POST" else request.GET.dict()
    initial = {name: getattr(found, name) for name in PoolForm.base_fields} | proposed
    form = PoolForm(request.POST or None, public=found.kind == Pool.Kind.PUBLIC4, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            preview = None if request.POST.get("agreed") else _build_preview(found, form.cleaned_data)
            if preview:
                return render(request, "network/pool_preview.html", {"form": form, "pool": found, "preview": preview})
            _change(found, form.cleaned_data, get_signed_in_user(request))
            return redirect("network:pool", pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "network/pool_edit.html", {"form": form, "pool": found}, status=422 if form.errors else 200)


@staff_page
def remove_pool(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask before a pool is removed, or say what uses it; on POST, remove it."""
    found = get_object_or_404(Pool, pk=pk)
    if request.method != "POST":
        return render(request, "network/pool_remove.html", {"pool": found, "uses": list_uses(Pool, [pk])})
    try:
        pool_removal.remove_pool(found)
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("network:pool", pk)
    messages.success(request, _("%(name)s has been removed. The history can undo this.") % {"name": found})
    return redirect("network:addresses")


@staff_page
@require_POST
def undo_pool(request: HttpRequest, event: int) -> HttpResponse:
    """Undo the last change of a pool."""
    return answer_undo(request, Pool, event, back="network:addresses")
