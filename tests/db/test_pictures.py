"""Pictures of pages show the pages, not the form that asks for the password."""

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from tests import factories
from tests.web.picture_list import session

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["mfa_activate_totp", "mfa_add_webauthn"])
def test_pages_of_codes_and_passkeys_are_pictured_however_long_all_pictures_take(name: str, settings: LazySettings) -> None:
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0
    factories.user("mara")
    client = Client()
    client.force_login(factories.user("jonas"))
    assert client.get(reverse(name)).status_code == 302, "others are asked for their password"
    client.cookies["sessionid"] = session("mara")
    assert client.get(reverse(name)).status_code == 200
