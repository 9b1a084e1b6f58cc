"""Mark of a preview: what its page showed when the confirming button was pressed, so that nothing else is carried out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Self

from django.http import QueryDict
from django.utils.translation import gettext as _

from apps.lib.web.query_params import parse_number

DIGEST: Final = 16  # characters: enough to notice a change


@dataclass(frozen=True)
class PreviewMark:
    """What a preview was made of: the number of effects, and digests of the effects and of the entered values.

    Its form carries it to the confirmation (`components/preview_mark.html`): by then somebody may have changed the database, or the fields
    beside the preview. A form without a mark fits no preview.
    """

    number: int
    effects: str
    values: str

    @classmethod
    def build(cls, effects: Sequence[object], values: Iterable[object]) -> Self:
        """Return the mark of a preview with these effects, such as ids of rows, of these cleaned values."""
        return cls(len(effects), _compute_digest(effects), _compute_digest(values))

    @classmethod
    def parse(cls, post: QueryDict) -> Self:
        """Return the mark of the preview whose button was pressed."""
        return cls(parse_number(post, "previewed"), post.get("previewed_effects", ""), post.get("previewed_values", ""))

    def describe_difference(self, confirmed: Self) -> str:
        """Return a sentence about what is not as in the confirmed preview, "" if all is."""
        if self == confirmed:
            return ""
        if self.values != confirmed.values:
            return _("The preview was made with other entries.")
        return self.describe_other_effects(confirmed)

    def describe_other_effects(self, _confirmed: Self) -> str:
        """Return a sentence about effects that differ although the entries do not."""
        return _("It would have another effect now than in the preview.")


def _compute_digest(values: Iterable[object]) -> str:
    return sha256("\n".join(map(str, values)).encode()).hexdigest()[:DIGEST]
