"""Queries of webhook endpoints."""

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest

from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.navigation import NavigationCount as NavigationCount
from apps.webhooks.models import Delivery, Endpoint


def list_endpoints() -> QuerySet[Endpoint]:
    """Return all endpoints, each with its last result and its numbers of waiting and failed deliveries."""
    tried = Delivery.objects.filter(endpoint=OuterRef("pk"), tries__gt=0).order_by("-id")
    last = {f"last_{name}": Subquery(tried.values(name)[:1]) for name in ("state", "status", "error", "ended")}
    numbers = {name: Count("deliveries", filter=Q(deliveries__state=name)) for name in ("waiting", "failed")}
    return Endpoint.objects.select_related("owner").annotate(**last, **numbers).order_by("name", "id")


@read_with_frame
def _list_failing() -> QuerySet[Endpoint, int]:
    return Endpoint.objects.filter(active=True, failures__gte=3).values_list("pk", flat=True)


def count_failing(_request: HttpRequest) -> NavigationCount | None:
    """Return the number beside “Webhooks” in the navigation: active endpoints with at least three failed tries in a row."""
    number = len(_list_failing())
    return NavigationCount(number, asks=True) if number else None
