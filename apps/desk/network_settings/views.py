"""Page of the settings of the network."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.undo_page import answer_undo
from apps.audit.selectors import list_row_history
from apps.desk.network_settings.forms import NetworkSettingsForm
from apps.desk.network_settings.setting_states import map_setting_states
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.web.query_params import parse_number
from apps.preferences.models import NetworkSettings
from apps.preferences.selectors import get_settings_row
from apps.preferences.services import change_settings, require_setting

HISTORY = 8  # entries in the rail


@staff_page
def settings(request: HttpRequest) -> HttpResponse:
    """Show and change the settings."""
    form = NetworkSettingsForm(get_settings_row(), request.POST if request.method == "POST" else None)
    if form.is_valid() and _try_save(request, form):
        messages.success(request, _("Saved. This applies now. The history can undo it for seven days."))
        return redirect("desk:settings")
    row = get_settings_row()
    states = map_setting_states(row)
    sections = [(section, [(bound, states[bound.name], saved) for bound, saved in fields]) for section, fields in form.iter_sections()]
    shown = {"form": form, "version": row.version, "sections": sections, "number": sum(each.is_set for each in states.values())}
    entries = list_row_history(row, HISTORY) if row.pk else []
    return render(request, "desk/settings.html", shown | {"entries": entries}, status=422 if form.is_bound else 200)


def _try_save(request: HttpRequest, form: NetworkSettingsForm) -> bool:
    """Return True if the service accepted the changes; otherwise show its refusal in the form."""
    changes = form.list_changes()
    try:
        if changes:
            change_settings(version=form.cleaned_data["version"], values=changes, by=get_signed_in_user(request))
    except Conflict as conflict:
        form.take_up(get_settings_row(), str(conflict))
        return False
    except Problem as problem:
        add_problem_to_form(form, problem)
        return False
    return True


@staff_page
@require_POST
def reset(request: HttpRequest) -> HttpResponse:
    """Set one setting back to its default."""
    version, name = parse_number(request.POST, "version"), request.POST.get("name", "")
    try:
        change_settings(version=version, values={name: None}, by=get_signed_in_user(request))
        setting = require_setting(name)
        facts = {"setting": setting.label, "value": setting.format(setting.get_default()) or _("empty")}
        messages.success(request, _("%(setting)s has its default again: %(value)s.") % facts)
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("desk:settings")


@staff_page
@require_POST
def undo(request: HttpRequest, event: int) -> HttpResponse:
    """Undo the last change of the settings."""
    return answer_undo(request, NetworkSettings, event, back="desk:settings")
