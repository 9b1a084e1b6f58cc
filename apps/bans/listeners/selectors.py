"""Read access to listeners and servers' interfaces."""

from django.db.models import CharField, Func, Q, QuerySet

from apps.bans.listeners.models import Listener
from apps.network.models import Gateway


def list_listeners(search: str = "") -> QuerySet[Listener]:
    """Return the listeners by name. search: a part of the name or note, the start of an address, or a port."""
    found = Listener.objects.select_related("group").order_by("name", "id")
    text = search.strip().replace("\0", "")
    if not text:
        return found
    found = found.annotate(host=Func("address", function="host", output_field=CharField()))
    named = Q(name__icontains=text) | Q(note__icontains=text) | Q(host__startswith=text)
    return found.filter(named | Q(port=int(text)) if text.isascii() and text.isdigit() and len(text) < 6 else named)


def list_gateways() -> QuerySet[Gateway]:
    """Return the gateways by name, with the interface behind which their servers stand."""
    return Gateway.objects.select_related("server_interface", "group").order_by("name")
