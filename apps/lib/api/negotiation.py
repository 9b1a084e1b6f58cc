"""Content negotiation: `?format=` takes precedence over the Accept header."""

from collections.abc import Iterable

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer


class Negotiation(DefaultContentNegotiation):
    """Answers an unknown format with 406, like an unknown media type, instead of REST framework's 404: the URL itself is right."""

    def filter_renderers(self, renderers: Iterable[BaseRenderer], format: str) -> list[BaseRenderer]:
        try:
            return super().filter_renderers(renderers, format)
        except Http404 as error:
            known = ", ".join(each.format for each in renderers)
            raise NotAcceptable(
                _("The format “%(format)s” is not available here. Available: %(known)s.") % {"format": format, "known": known}
            ) from error
