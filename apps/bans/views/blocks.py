"""Pages for blocks of members: adding, changing, lifting and undoing, for one block or many."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.audit.selectors import list_row_history
from apps.bans.blocks import block_rows, selectors, services
from apps.bans.blocks.forms import BlockForm
from apps.bans.blocks.models import Block
from apps.bans.forms import EndForm
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Conflict, Problem
from apps.lib.web.query_params import parse_ids, parse_number
from apps.members.models import Member

PER_PAGE = 50
LAST_CHANGES = 20


def _get_block(pk: int) -> Block:
    return get_object_or_404(Block.objects.select_related("member", "author", "lifted_by"), pk=pk)


@staff_page
def blocks(request: HttpRequest) -> HttpResponse:
    """List the blocks, in force or over."""
    wanted = _parse_filter(request.GET)
    page = Paginator(selectors.list_blocks(**wanted), PER_PAGE).get_page(request.GET.get("page"))
    more = {
        "page": page,
        "rows": block_rows.build_block_rows(page),
        "reasons": Block.Reason.choices,
        "number": selectors.count_blocked_members(),
        "notices": list(selectors.iter_notices()),
        "lifted": Block.objects.filter(pk=parse_number(request.GET, "lifted")).first(),
        "passing": ("lifted",),
    }
    return render(request, "bans/blocks.html", wanted | more)


def _parse_filter(params: QueryDict) -> dict[str, str]:
    """Return what the list is filtered by: the arguments of `list_blocks`."""
    state, reason = params.get("state", ""), params.get("reason", "")
    return {
        "state": state if state in selectors.STATES else "now",
        "search": params.get("q", "").strip(),
        "reason": reason if reason in Block.Reason.values else "",
    }


@staff_page
def block_member(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what blocking the member does; after confirmation, block the member."""
    member = get_object_or_404(Member, pk=pk)
    there = selectors.find_current_block(member)
    if there:
        return redirect("bans:block", there.pk)
    form = BlockForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = services.block_member(member=member, by=get_signed_in_user(request), **form.to_kwargs())
            return redirect("bans:block", made.pk)
        except Problem as problem:
            form.add_problem(problem)
    shown = {"member": member, "form": form, "cut": selectors.get_block_impact(member)}
    return render(request, "bans/block_member.html", shown, status=422 if form.is_bound else 200)


@staff_page
def block(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a block with its history; change its reason, texts and end."""
    found = _get_block(pk)
    form = BlockForm(request.POST if request.method == "POST" else None, found)
    if form.is_valid():
        try:
            services.change_block(
                block=found, version=form.cleaned_data["version"] or 0, by=get_signed_in_user(request), **form.to_kwargs()
            )
            return redirect("bans:block", pk)
        except Problem as problem:
            if isinstance(problem, Conflict):
                form.keep_input(_get_block(pk).version)
            form.add_problem(problem)
    [row] = block_rows.build_block_rows([_get_block(pk)])
    shown: dict[str, Any] = {"row": row, "that": row.block, "form": form, "entries": list_row_history(found, LAST_CHANGES)}
    return render(
        request, "bans/block.html", shown | {"cut": selectors.get_block_impact(found.member)}, status=422 if form.is_bound else 200
    )


@staff_page
def lift(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what lifting the block does; after confirmation, lift it."""
    found = _get_block(pk)
    if request.method != "POST":
        return render(request, "bans/lift_block.html", {"that": found, "cut": selectors.get_block_impact(found.member)})
    services.lift_block(block=found, by=get_signed_in_user(request))
    return redirect(f"{reverse('bans:blocks')}?lifted={pk}")


@staff_page
@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo the lifting of a block."""
    try:
        again = services.restore_block(lifted=_get_block(pk), by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("bans:blocks")
    return redirect("bans:block", again.pk)


@staff_page
@require_POST
def bulk_action(request: HttpRequest) -> HttpResponse:
    """Show what the action does to the selected blocks; after confirmation, do it."""
    found = _list_selected_blocks(request)
    do, confirmed = "end" if request.POST.get("do") == "end" else "lift", request.POST.get("confirmed") == "1"
    form = EndForm(request.POST if confirmed and do == "end" else None)
    back = f"{reverse('bans:blocks')}?{request.GET.urlencode()}"
    shown = {"blocks": found, "picked": ",".join(str(each.pk) for each in found), "do": do, "form": form, "back": back}
    if not found or not confirmed or (do == "end" and not form.is_valid()):
        return render(request, "bans/bulk_blocks.html", shown)
    try:
        messages.success(request, _apply_action(do, [each.pk for each in found], form, request))
    except Problem as problem:
        form.add_problem(problem)
        return render(request, "bans/bulk_blocks.html", shown, status=422)
    return redirect(back)


def _list_selected_blocks(request: HttpRequest) -> list[Block]:
    """Return the selected blocks that are in force: all that the list's filter finds, or the picked ones.

    A confirmation sends the ids of its blocks in one `pick`, with commas between them: a form has at most 1000 fields.
    """
    if request.POST.get("all"):
        return list(selectors.list_blocks(**_parse_filter(request.GET)).filter(is_valid_now()))
    picked = parse_ids(",".join(request.POST.getlist("pick")).split(","))
    return list(selectors.list_blocks().filter(pk__in=picked))


def _apply_action(do: str, picked: list[int], form: EndForm, request: HttpRequest) -> str:
    if do == "lift":
        lifted = services.lift_blocks(blocks=picked, by=get_signed_in_user(request))
        return ngettext("%(n)d block is lifted.", "%(n)d blocks are lifted.", lifted) % {"n": lifted}
    changed = services.set_block_ends(blocks=picked, until=form.compute_end(), by=get_signed_in_user(request))
    return ngettext("%(n)d block has a new end.", "%(n)d blocks have a new end.", changed) % {"n": changed}
