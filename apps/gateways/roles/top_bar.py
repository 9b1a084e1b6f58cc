"""Note for the top bar of each page: which family is not carried as planned."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.gateways.roles.picture import Deviation, FamilyPicture, map_family_pictures
from apps.lib.ui.states import StateKind
from apps.lib.web.context_processors import TopBarNote

ORDER = (StateKind.BAD, StateKind.WARN)


def summarize_worst_deviation(_request: HttpRequest) -> TopBarNote | None:
    """Summarise the group whose families are carried least as planned; None if all are. One query; asks no gateway."""
    return min(_iter_notes(), key=lambda note: ORDER.index(note.kind), default=None)


def _iter_notes() -> Iterator[TopBarNote]:
    for (group, _family), picture in map_family_pictures().items():
        if picture.deviation:
            kind = StateKind.WARN if picture.deviation is Deviation.NOT_PREFERRED else StateKind.BAD
            yield TopBarNote(kind, _render_deviation(picture), reverse("gateways:failover", args=[group]))


def _render_deviation(picture: FamilyPicture) -> str:
    words = {
        Deviation.NOBODY: _("IPv%(family)d on no gateway"),
        Deviation.SEVERAL: _("IPv%(family)d on several gateways"),
        Deviation.NOT_PREFERRED: _("IPv%(family)d on %(gateway)s"),
    }
    return words[picture.deviation or Deviation.NOBODY] % {"family": picture.family, "gateway": picture.carrier_names}
