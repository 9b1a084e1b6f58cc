"""Template context of every page: the network's name, which is read when the page shows it."""

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from apps.preferences.declarations import NETWORK_NAME
from apps.preferences.selectors import read_setting


def provide_network_name(_request: HttpRequest) -> dict[str, object]:
    return {"network": SimpleLazyObject(_read_name)}


def _read_name() -> str:
    """Return the name; without a database, its default, so that the page can say what is wrong."""
    try:
        return read_setting(NETWORK_NAME)
    except (OperationalError, InterfaceError):
        return NETWORK_NAME.get_default()
