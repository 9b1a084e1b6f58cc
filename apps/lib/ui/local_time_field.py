"""Form field for a time in the reader's zone, as a browser's datetime-local field sends it: without an offset."""

from datetime import datetime
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.lib.local_time import list_meanings

TO_THE_MINUTE: Final = "%Y-%m-%dT%H:%M"
TO_THE_SECOND: Final = "%Y-%m-%dT%H:%M:%S"


class LocalTimeField(forms.DateTimeField):
    """A time to the minute, or to the second if `has_seconds`.

    The text with which the page fills the field in means exactly the form's initial time, which may have seconds. Another time that the
    clock shows twice, in the night in which it goes back, is the later of the two if `is_end`; otherwise the later that is not in the
    future, or the earlier if both are. A time that the clock skips is refused.
    """

    def __init__(self, *, is_end: bool = False, has_seconds: bool = False, **given: Any) -> None:
        attrs = {"type": "datetime-local", **({"step": "1"} if has_seconds else {})}
        widget = forms.DateTimeInput(attrs=attrs, format=TO_THE_SECOND if has_seconds else TO_THE_MINUTE)
        super().__init__(widget=widget, **given)
        self._is_end = is_end
        self._prefilled: datetime | None = None

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> forms.BoundField:
        """Take note of the form's initial time, whose microseconds `get_initial_for_field` drops."""
        initial = form.initial.get(field_name, self.initial)
        self._prefilled = initial if isinstance(initial, datetime) else None
        return super().get_bound_field(form, field_name)

    def to_python(self, value: Any) -> datetime | None:
        if self._prefilled and value == self.widget.format_value(self.prepare_value(self._prefilled)):
            return self._prefilled
        try:
            return super().to_python(value)
        except ValidationError as error:
            if error.code != "ambiguous_timezone" or not error.params:
                raise
            shown: datetime = error.params["datetime"]
        return choose_meaning(shown, timezone.now(), is_end=self._is_end)


def choose_meaning(shown: datetime, now: datetime, *, is_end: bool) -> datetime:
    """Return the time that is meant by what the clock shows, in UTC. Raises ValidationError for one that the clock skips."""
    meanings = list_meanings(shown, timezone.get_current_timezone())
    if not meanings:
        skipped = _("%(time)s does not exist on this day, because the clock goes forward. Enter an earlier or a later time.")
        raise ValidationError(skipped % {"time": shown.strftime("%H:%M")}, code="skipped")
    return meanings[-1] if is_end or meanings[-1] <= now else meanings[0]
