"""Keyboard shortcuts of single characters, which each account can switch off."""

from apps.accounts.models import User
from tests import factories
from tests.db.page_client import signed_in, text


def test_staff_switch_single_keys_off_and_on_and_the_help_says_which(db: None) -> None:
    mara = factories.user("mara")
    client = signed_in(mara)
    assert "Switch off single-key shortcuts" in text(client.get("/tickets/"))
    for keys, shown in (("off", True), ("on", False)):
        assert client.post("/account/keys/", {"keys": keys}).headers["Location"] == "/account/#single-keys"
        for page in (text(client.get("/tickets/")), text(client.get("/account/"))):
            assert ('data-single-keys="off"' in page) is shown
        assert ("Switch on single-key shortcuts" in text(client.get("/tickets/"))) is shown


def test_what_one_switches_off_stays_on_for_others(db: None) -> None:
    mara, jonas = factories.user("mara"), factories.user("jonas")
    signed_in(mara).post("/account/keys/", {"keys": "off"})
    assert dict(User.objects.values_list("username", "keys")) == {"mara": False, "jonas": True}
    assert 'data-single-keys="off"' not in text(signed_in(jonas).get("/tickets/"))


def test_members_are_asked_nothing_because_their_pages_know_no_keys(db: None) -> None:
    assert "Single-key shortcuts" not in text(signed_in(factories.user("selin", staff=False)).get("/account/"))
