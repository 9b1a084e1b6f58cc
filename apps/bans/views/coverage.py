"""Page that searches the bans and allow entries that cover an address."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from apps.accounts.permissions import staff_page
from apps.bans import coverage
from apps.bans.models import Ban
from apps.bans.services import validate_prefix
from apps.lib.errors import Problem


@staff_page
def coverage_search(request: HttpRequest) -> HttpResponse:
    """Show all bans and allow entries that cover an address or prefix, and the one that decides in each direction."""
    asked = request.GET.get("address", "").strip()[:80]
    shown: dict[str, object] = {"asked": asked}
    if asked:
        try:
            prefix = validate_prefix(asked, ours=True)
        except Problem as problem:
            return render(request, "bans/covering.html", shown | {"problem": str(problem), "offer": problem.offer}, status=422)
        found = coverage.get_coverage(prefix)
        ways = [(_("Connections from there"), found.incoming_deciding_entry), (_("Connections to there"), found.outgoing_deciding_entry)]
        decided = [(title, by, "ban" if isinstance(by, Ban) else "allowed" if by else "") for title, by in ways]
        shown |= {"found": found, "shown": Ban(prefix=prefix).prefix_text, "ways": decided}
    return render(request, "bans/covering.html", shown)
