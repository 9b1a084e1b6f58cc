"""Settings of members: the language, and which notices come by mail."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.accounts import language_middleware
from apps.accounts.models import User
from apps.mail import notice_kinds, services
from apps.mail.models import SwitchedOff
from apps.members import own_devices
from apps.members.models import Member


class SettingsForm(forms.Form):
    """The language of pages and mails, and the wanted notices."""

    language = forms.ChoiceField(label=_("Language"), required=False, choices=[("", _("As set in the browser")), *settings.LANGUAGES])
    notices = forms.MultipleChoiceField(label=_("Wanted mails"), required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, member: Member, user: User, data: Any = None) -> None:
        super().__init__(data, initial={"language": user.language, "notices": list_wanted_notices(member)})
        self.fields["notices"].choices = notice_kinds.list_member_kinds()  # type: ignore[attr-defined]  # a MultipleChoiceField has it
        if not member.email:
            del self.fields["notices"]


def list_wanted_notices(member: Member) -> list[str]:
    """Return the kinds of notices that the member has not switched off."""
    off = set(SwitchedOff.objects.filter(address__iexact=member.email).values_list("notice", flat=True))
    return [kind for kind, _words in notice_kinds.list_member_kinds() if kind not in off]


def save_settings(member: Member, user: User, given: dict[str, Any]) -> None:
    """Save the form's values. If no language is chosen, mails keep their present one."""
    language_middleware.save_language(user, given["language"])
    if given["language"]:
        own_devices.set_language(member, given["language"])
    if member.email:
        for kind, _words in notice_kinds.list_member_kinds():
            switch = services.switch_notice_on if kind in given["notices"] else services.switch_notice_off
            switch(address=member.email, notice=kind)
