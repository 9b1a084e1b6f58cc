"""The page and the API of the settings of the network."""

import re
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.accounts import tokens
from apps.audit.undo import find_last_event
from apps.preferences.declarations import FORBIDDEN_PORTS, HOLD_DAYS, KEEP_MAIL_DAYS, NETWORK_NAME, SETTINGS
from apps.preferences.models import NetworkSettings
from apps.preferences.selectors import get_settings_row, read_setting
from apps.preferences.services import change_settings
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import list_messages, queries, signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)

PAGE, ADDRESS = "/settings/", "/api/network/settings/1/"


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def words_of(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text(response)).split())


def build_form_data(client: Client, **changes: object) -> dict[str, object]:
    """Return what a browser submits when these fields of the page were changed."""
    form = client.get(PAGE).context["form"]
    shown = {bound.name: bound.value() for bound in form}
    shown[FORBIDDEN_PORTS.name] = form.fields[FORBIDDEN_PORTS.name].prepare_value(shown[FORBIDDEN_PORTS.name])
    return shown | changes


# the page


def test_the_page_shows_every_setting_with_its_default(mara: Client, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETZWART_HOLD_DAYS", "20")
    settings.HOLD_DAYS = 20
    page = words_of(mara.get(PAGE))
    for setting in SETTINGS:
        assert str(setting.label) in page
    assert "Default: 20 days, from the environment (NETZWART_HOLD_DAYS)." in page
    assert "Default: 1024." in page


def test_only_what_was_changed_is_stored_and_the_page_says_by_whom(mara: Client) -> None:
    answer = mara.post(PAGE, build_form_data(mara, network_name="Haus Linde", forbidden_ports="25, 135-137"), follow=True)
    assert list_messages(answer) == ["Saved. This applies now. The history can undo it for seven days."]
    assert (read_setting(NETWORK_NAME), read_setting(FORBIDDEN_PORTS)) == ("Haus Linde", [25, 135, 136, 137])
    assert getattr(get_settings_row(), HOLD_DAYS.name) is None
    page = words_of(mara.get(PAGE))
    assert page.count("Changed by Mara Lindqvist") == 2
    assert "2 settings are not at their defaults" in page


def test_saving_without_a_change_changes_nothing(mara: Client) -> None:
    assert mara.post(PAGE, build_form_data(mara)).status_code == 302
    assert not NetworkSettings.objects.exists()


def test_every_error_stands_at_its_field(mara: Client) -> None:
    given = build_form_data(mara, hold_days="999", keep_mail_days="soon", network_name="", forbidden_ports="x")
    answer = mara.post(PAGE, given)
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert errors.keys() == {"hold_days", "keep_mail_days", "network_name", "forbidden_ports"}
    assert errors["hold_days"] == ["Choose a number from 0 to 365."]
    contradicting = mara.post(PAGE, build_form_data(mara, erase_days="3"))
    assert contradicting.context["form"].errors["erase_days"] == [
        "Their addresses are kept for 14 days: personal data cannot be erased before that."
    ]


def test_after_a_conflict_the_input_stays_beside_what_was_saved(mara: Client) -> None:
    given = build_form_data(mara, hold_days="5", keep_mail_days="40")
    change_settings(version=0, values={"hold_days": 6}, by=None)
    answer = mara.post(PAGE, given)
    assert answer.status_code == 422
    page = words_of(answer)
    assert "Saved meanwhile: 6 days" in page
    assert answer.context["form"]["hold_days"].value() == "5"
    assert read_setting(HOLD_DAYS) == 6
    again = {bound.name: bound.value() for bound in answer.context["form"]}
    assert mara.post(PAGE, again).status_code == 302
    assert (read_setting(HOLD_DAYS), read_setting(KEEP_MAIL_DAYS)) == (5, 40)


def test_a_setting_goes_back_to_its_default_alone(mara: Client) -> None:
    change_settings(version=0, values={"hold_days": 6, "keep_mail_days": 40}, by=None)
    answer = mara.post("/settings/reset/", {"name": "hold_days", "version": get_settings_row().version}, follow=True)
    assert list_messages(answer) == ["Addresses of members who left are kept for has its default again: 14 days."]
    assert (read_setting(HOLD_DAYS), read_setting(KEEP_MAIL_DAYS)) == (14, 40)
    assert (
        "changed by someone else" in list_messages(mara.post("/settings/reset/", {"name": "keep_mail_days", "version": 1}, follow=True))[0]
    )
    for nonsense in ({}, {"name": "colour", "version": "1"}, {"name": "hold_days", "version": "x"}):
        assert mara.post("/settings/reset/", nonsense).status_code == 302
    assert read_setting(KEEP_MAIL_DAYS) == 40


def test_the_history_undoes_the_last_change(mara: Client) -> None:
    mara.post(PAGE, build_form_data(mara, hold_days="6"))
    mara.post(PAGE, build_form_data(mara, hold_days="7"))
    assert "6 → 7" in words_of(mara.get("/history/"))
    answer = mara.post(f"/settings/undo/{find_last_event(NetworkSettings, 1)}/", follow=True)
    assert list_messages(answer) == ["Undone: The network."]
    assert read_setting(HOLD_DAYS) == 6


def test_an_undo_that_contradicts_the_environment_is_refused(mara: Client, settings: LazySettings) -> None:
    change_settings(version=0, values={"erase_days": 20}, by=None)
    change_settings(version=1, values={"erase_days": None}, by=None)
    settings.HOLD_DAYS = 30
    answer = mara.post(f"/settings/undo/{find_last_event(NetworkSettings, 1)}/", follow=True)
    assert "kept for 30 days" in list_messages(answer)[0]


def test_the_page_takes_the_same_queries_however_many_changes_there_were(mara: Client) -> None:
    mara.post(PAGE, build_form_data(mara, hold_days="6"))
    before = queries(mara, PAGE)
    for days in range(7, 12):
        mara.post(PAGE, build_form_data(mara, hold_days=str(days), network_name=f"Haus {days}"))
    assert queries(mara, PAGE) == before


def test_an_auditor_sees_the_page_and_cannot_change_it() -> None:
    auditor = signed_in(factories.user("auditor", roles=["auditor"]))
    page = text(auditor.get(PAGE))
    assert "Save</button>" not in page
    assert auditor.post(PAGE, {}).status_code == 403
    assert auditor.post("/settings/reset/", {}).status_code == 403


# the API


def test_the_api_shows_what_is_set_what_applies_and_the_defaults(api: Client) -> None:
    shown = api.get(ADDRESS)
    assert shown.json()["hold_days"] is None
    assert shown.json()["in_force"]["hold_days"] == shown.json()["defaults"]["hold_days"] == 14
    assert shown.headers["ETag"] == '"v0"'


def test_the_api_changes_what_is_sent_and_resets_by_null(api: Client) -> None:
    changed = api.patch(ADDRESS, {"hold_days": 5, "forbidden_ports": [25]}, content_type="application/json")
    assert (changed.status_code, changed.json()["in_force"]["hold_days"], changed.json()["version"]) == (200, 5, 1)
    back = api.patch(ADDRESS, {"hold_days": None}, content_type="application/json", headers={"If-Match": changed.headers["ETag"]})
    assert (back.json()["in_force"]["hold_days"], back.json()["forbidden_ports"]) == (14, [25])


def test_the_api_refuses_by_name(api: Client) -> None:
    def refuse(**sent: object) -> Any:
        return wrong(api.patch(ADDRESS, sent, content_type="application/json"))

    assert "Did you mean “hold_days”?" in refuse(hold_day=5)["hold_day"][0]
    assert "from 0 to 365" in refuse(hold_days=400)["hold_days"][0]
    assert refuse(erase_days=3).keys() == {"erase_days"}
    assert refuse(default_language="xx").keys() == {"default_language"}
    assert not NetworkSettings.objects.exists()


def test_the_api_tells_of_a_change_since(api: Client) -> None:
    change_settings(version=0, values={"hold_days": 5}, by=None)
    for changes, headers, status in (({"hold_days": 6}, {"If-Match": '"v0"'}, 412), ({"hold_days": 6, "version": 0}, {}, 409)):
        assert api.patch(ADDRESS, changes, content_type="application/json", headers=headers).status_code == status
    assert read_setting(HOLD_DAYS) == 5


def test_there_is_one_object(api: Client) -> None:
    assert api.get("/api/network/settings/2/").status_code == 404
