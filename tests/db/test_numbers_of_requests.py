"""Numbers in requests that are none, or that no computer counts to, are answered with a sentence."""

from ipaddress import ip_interface
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.gateways.retirement import retire_gateway
from apps.network.failover import Failover
from apps.preferences.services import change_settings
from tests import factories
from tests.db.page_client import list_messages, signed_in

NO_VERSIONS = ["", "abc", "-1", "9" * 18, "9" * 5000, "\u0661", "\u00b2"]


@pytest.mark.parametrize("version", NO_VERSIONS)
@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/gateways/{standby}/primary/4/", {}),
        ("/gateways/{retired}/reinstate/", {}),
        ("/gateways/groups/{group}/failover/stop/", {}),
        ("/gateways/groups/{group}/flood/", {"on": "1"}),
        ("/addresses/{pool}/retire/", {}),
        ("/addresses/{gone}/retire/", {"back": "1"}),
        ("/settings/reset/", {"name": "hold_days"}),
    ],
)
def test_a_button_with_a_version_that_is_none_says_that_somebody_changed_it(
    network: factories.Network, path: str, given: dict[str, str], version: str
) -> None:
    mara, spare = signed_in(network.admin), factories.gateway(network.group, "nat-3")
    retired = retire_gateway(gateway=spare, version=spare.version)
    Failover.objects.create(group=network.group, inside=[ip_interface("10.16.0.1/11")])
    gone = factories.pool(network.group, "private4", "192.168.7.0/24", retired=timezone.now())
    change_settings(version=0, values={"hold_days": 7}, by=network.admin)
    ids: dict[str, int] = {
        "gone": gone.pk,
        "standby": network.gateways[1].pk,
        "retired": retired.pk,
        "group": network.group.pk,
        "pool": network.private.pk,
    }
    answer = mara.post(path.format(**ids), given | {"version": version})
    page = mara.get(answer["Location"])
    assert (answer.status_code, page.status_code) == (302, 200)
    assert "changed" in " ".join(list_messages(page))


def test_a_body_of_more_bytes_than_can_be_counted_is_too_large(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=network.admin, name="script")
    script: Any = Client(headers={"authorization": f"Bearer {key}"})
    for length, status in (("9" * 5000, 413), ("\u00b2", 400)):
        answer = script.generic("POST", "/api/bans/bans/", "", content_type="application/json", CONTENT_LENGTH=length)
        assert answer.status_code == status, length
