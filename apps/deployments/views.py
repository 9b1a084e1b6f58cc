"""Rollouts: the list, one of them with its evidence, and asking for one."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import staff_page
from apps.deployments import progress, selectors, services
from apps.deployments.delta import shown
from apps.deployments.models import Revision, Rollout
from apps.deployments.rollouts import SHOWN_DELTA
from apps.deployments.words import kind_words, lines_of, share

PER_PAGE = 50
MOST_PER_GROUP = 20


@staff_page
def rollouts(request: HttpRequest) -> HttpResponse:
    """The newest first; the first page looks again by itself."""
    chosen = request.GET.get("state", "")
    page = Paginator(selectors.rollouts_in(chosen), PER_PAGE).get_page(request.GET.get("page"))
    now = timezone.now()
    rows = [progress.row(rollout, now) for rollout in page]
    truths = progress.truths(selectors.newest_per_group().prefetch_related("steps__gateway"))
    part = "#table" if request.headers.get("HX-Target") == "rollouts" else ""
    context = {"page": page, "rows": rows, "counts": selectors.rollout_counts(), "chosen": chosen, "truths": truths}
    return render(request, f"deployments/rollouts.html{part}", context)


@staff_page
def rollout(request: HttpRequest, pk: int) -> HttpResponse:
    """How far it is, what it changes, element by element."""
    return render(request, "deployments/rollout.html", _shown(get_object_or_404(selectors.last_rollouts(), pk=pk)))


@staff_page
def rollout_now(request: HttpRequest, pk: int) -> HttpResponse:
    """The parts of the page that move, while the rollout is open; nothing when the page has them as they are."""
    rollout = get_object_or_404(selectors.last_rollouts(), pk=pk)
    if request.GET.get("seen") == progress.stamp(rollout):
        return HttpResponse(status=204)
    return render(request, "deployments/rollout.html#now", _shown(rollout) | {"oob": True})


def _shown(rollout: Rollout) -> dict[str, object]:
    newer, states = selectors.newest_but(rollout), selectors.states_by_name(rollout)
    away = set() if newer else {name for name, state in states.items() if state.unreachable_since}
    memory = {name for name, state in states.items() if state.in_memory}
    return {
        "row": progress.row(rollout, timezone.now()),
        "rollout": rollout,
        "truth": progress.truth(rollout, newer, memory),
        "stamp": progress.stamp(rollout),
        "gone_wrong": "" if any(step.error for step in rollout.steps.all()) else rollout.error,
        "open": progress.is_open(rollout),
        "lanes": progress.lanes(rollout, away),
        "lines": [(kind_words(line.kind), line, share(line)) for line in lines_of(rollout.revision.changes)],
        "delta": shown(rollout.revision.delta, MOST_PER_GROUP),
        "newer": newer,
        "cut": len(rollout.revision.delta) >= SHOWN_DELTA,
        "older": selectors.one_before(rollout),
    }


@staff_page
def delta(_request: HttpRequest, pk: int) -> HttpResponse:
    """The nft text of what changes, as it is kept."""
    revision = get_object_or_404(Revision, rollouts=pk)
    response = HttpResponse(revision.delta, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{revision}.nft"'
    return response


@staff_page
@require_POST
def deploy(request: HttpRequest) -> HttpResponse:
    """Ask a worker to look now."""
    services.request(by=request.user)  # type: ignore[arg-type]  # staff_page: signed in
    messages.success(
        request, _("Asked. If the gateways run something else than the database asks for, a rollout appears here in a moment.")
    )
    return redirect("deployments:rollouts")


@staff_page
@require_POST
def again(request: HttpRequest, pk: int) -> HttpResponse:
    """Try what failed once more, as the database asks for it now."""
    rollout = get_object_or_404(Rollout.objects.select_related("revision"), pk=pk)
    services.request(by=request.user, force=True)  # type: ignore[arg-type]  # staff_page: signed in
    messages.success(
        request,
        _("Asked to try again. What %(revision)s missed goes out with a new rollout, as it is asked for now.") % {"revision": rollout},
    )
    return redirect("deployments:rollouts")
