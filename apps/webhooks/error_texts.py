"""Sentences for the errors of deliveries, and the names of the events."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.lib.web.guarded_http import NoAnswerReason

NO_RIGHT: Final = "no right"
BROKEN: Final = "broken"
ACCEPTED_NOTHING: Final = "accepted nothing"
FAULTS: Final[dict[str, Promise]] = {
    NoAnswerReason.SCHEME: _("“%(what)s” is not https."),
    NoAnswerReason.ADDRESS: _("“%(what)s” is not the address of a web server."),
    NoAnswerReason.UNKNOWN_HOST: _("Host %(what)s not found."),
    NoAnswerReason.PRIVATE: _(
        "%(what)s is not on the public internet, or is one of our own networks. NETZWART_WEBHOOK_NETWORKS can allow it."
    ),
    NoAnswerReason.UNREACHABLE: _("The server cannot be reached: %(what)s"),
    NoAnswerReason.CERTIFICATE: _("The server’s certificate is not valid: %(what)s"),
    NoAnswerReason.TOO_SLOW: _("It did not answer within %(what)s seconds."),
    BROKEN: _("The portal failed (%(what)s); its log says more."),
    ACCEPTED_NOTHING: _("The webhook accepted nothing for a day and a half."),
    NO_RIGHT: _("The webhook’s owner may not see this any more."),
}
HAPPENINGS: Final[dict[str, Promise]] = {"created": _("created"), "changed": _("changed"), "removed": _("removed")}


def explain_error(error: str) -> str:
    """Return a sentence for a stored error such as `unknown host: hooks.example.org`. Other texts are returned as they are."""
    fault, _colon, what = error.partition(": ")
    return str(FAULTS[fault]) % {"what": what} if fault in FAULTS else error
