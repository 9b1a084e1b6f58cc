"""Pages of a gateway's evidence: the list, which follows a collection, the button, the download, and deleting."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.security_log import SecurityEvent, log_security_event
from apps.gateways import selectors
from apps.gateways.evidence.collection import KEPT, name_folder
from apps.gateways.evidence.models import EvidenceArchive, EvidenceDownload
from apps.gateways.evidence.part_texts import EXPLANATIONS, TITLES
from apps.gateways.evidence.presentation import build_shown_evidence
from apps.gateways.evidence.requests import request_evidence
from apps.gateways.evidence.selectors import list_archives
from apps.network.models import Gateway

SEALED = "default-src 'none'; sandbox"


@staff_page
def evidence(request: HttpRequest, pk: int) -> HttpResponse:
    """List the archives of a gateway with what each contains. While one is being collected, it is asked for again all the time."""
    found = get_object_or_404(selectors.list_gateways(), pk=pk)
    shown = build_shown_evidence(list_archives([found.pk]))
    files = [(name, TITLES[name], EXPLANATIONS[name]) for name in TITLES]
    waits = any(each.row.state in EvidenceArchive.OPEN for each in shown)
    part = "#now" if request.headers.get("HX-Target") == "now" else ""
    return render(
        request, f"gateways/evidence.html{part}", {"gateway": found, "archives": shown, "waits": waits, "files": files, "kept": KEPT}
    )


@staff_page
@require_POST
def collect(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a worker collect evidence, and lead to the page that shows how far it got."""
    found = get_object_or_404(Gateway, pk=pk)
    request_evidence(gateway=found, by=get_signed_in_user(request))
    messages.success(request, _("A worker collects it now; this takes about ten seconds."))
    return redirect("gateways:evidence", found.pk)


@staff_page
def download(request: HttpRequest, pk: int, archive: int) -> HttpResponse:
    """Return the archive as a download, and record who took it: it contains members' addresses."""
    row = get_object_or_404(EvidenceArchive.objects.select_related("gateway", "file"), pk=archive, gateway=pk, file__isnull=False)
    by = get_signed_in_user(request)
    EvidenceDownload.objects.create(archive=row, by=by)
    log_security_event(SecurityEvent.EVIDENCE_DOWNLOADED, user=by, request=request, gateway=row.gateway.name, archive=row.pk)
    response = HttpResponse(bytes(row.file.octets), content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=f"{name_folder(row)}.tar.gz")
    response["Content-Security-Policy"] = SEALED
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Cache-Control"] = "private, no-store"
    return response


@staff_page
def delete(request: HttpRequest, pk: int, archive: int) -> HttpResponse:
    """Say what deleting an archive does, then do it on POST."""
    done = EvidenceArchive.objects.exclude(state__in=EvidenceArchive.OPEN).select_related("gateway")
    row = get_object_or_404(done, pk=archive, gateway=pk)
    if request.method != "POST":
        return render(request, "gateways/evidence_delete.html", {"row": row})
    log_security_event(
        SecurityEvent.EVIDENCE_DELETED, user=get_signed_in_user(request), request=request, gateway=row.gateway.name, archive=row.pk
    )
    row.delete()
    messages.success(request, _("The evidence is deleted."))
    return redirect("gateways:evidence", pk)
