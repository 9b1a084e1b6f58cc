"""Lists of all members' port forwards and IPv6 pinholes, also as CSV."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from apps.accounts.permissions import staff_page
from apps.lib.csv_stream import build_csv_download
from apps.lib.ui.activation_status import list_activation_statuses
from apps.lib.web.paginators import DeferredJoinPaginator
from apps.lib.web.query_params import parse_text_param
from apps.nat.list_search import find_forwards, find_pinholes
from apps.nat.models import Pinhole, PortForward
from apps.network.models import GatewayGroup

PER_PAGE = 50


@staff_page
def forwards(request: HttpRequest) -> HttpResponse:
    """List all port forwards, or those that match the search."""
    text = parse_text_param(request.GET, "q")
    page = DeferredJoinPaginator(find_forwards(text), PER_PAGE).get_page(request.GET.get("page"))
    rows = list_activation_statuses(page)
    return render(
        request, "nat/all_forwards.html", {"page": page, "rows": rows, "q": text, "groups": GatewayGroup.objects.order_by("name")}
    )


@staff_page
def pinholes(request: HttpRequest) -> HttpResponse:
    """List all IPv6 pinholes, or those that match the search."""
    text = parse_text_param(request.GET, "q")
    page = DeferredJoinPaginator(find_pinholes(text), PER_PAGE).get_page(request.GET.get("page"))
    rows = list_activation_statuses(page)
    return render(request, "nat/all_pinholes.html", {"page": page, "rows": rows, "q": text})


@staff_page
def forwards_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download all matching forwards, in the order of the list."""
    head = [_("Member"), _("Protocol"), _("Public address"), _("Public port"), _("Last port"), _("To address"), _("Device port")]
    head += [_("What for"), _("On"), _("Since"), _("Until")]
    found = find_forwards(parse_text_param(request.GET, "q")).iterator(chunk_size=1000)
    return build_csv_download("forwards", head, map(_list_forward_cells, found))


def _list_forward_cells(forward: PortForward) -> list[object]:
    ports = [forward.public_port, forward.last_port, forward.holding.address, forward.private_port]
    return [forward.holding.member, forward.protocol, forward.public, *ports, *_iter_last_cells(forward)]


@staff_page
def pinholes_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download all matching pinholes, in the order of the list; where all ports are open, the port cells are empty."""
    head = [_("Member"), _("Address"), _("Protocol"), _("Port"), _("Last port"), _("What for"), _("On"), _("Since"), _("Until")]
    found = find_pinholes(parse_text_param(request.GET, "q")).iterator(chunk_size=1000)
    return build_csv_download("pinholes", head, map(_list_pinhole_cells, found))


def _list_pinhole_cells(pinhole: Pinhole) -> list[object]:
    ports = [pinhole.port, pinhole.last_port] if pinhole.port else ["", ""]
    return [pinhole.holding.member, pinhole.address, pinhole.protocol, *ports, *_iter_last_cells(pinhole)]


def _iter_last_cells(row: Any) -> Iterator[object]:
    yield row.purpose
    yield _("yes") if row.enabled else _("no")
    yield row.valid.lower.isoformat()
    yield row.valid.upper.isoformat() if row.valid.upper else ""
