"""Times in the API: one that is none in UTC is refused, in each field that takes a time."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from rest_framework import serializers

from apps.accounts import tokens
from apps.bans import services
from apps.bans.models import Ban
from apps.lib.api.fields import MomentField
from portal.api import router
from tests import factories

OUT_OF_RANGE = "Datetime value out of range."


@pytest.fixture
def script(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_is_none_in_utc_is_refused(network: factories.Network, script: Client, at: str) -> None:
    ban = {"list": services.create_list(name="Own", by=network.admin).pk, "prefix": "203.0.113.9", "until": at}
    for body in (ban, [ban, ban | {"prefix": "203.0.113.10", "until": None}]):
        answer = script.post("/api/bans/bans/", body, content_type="application/json")
        assert (answer.status_code, OUT_OF_RANGE in answer.content.decode()) == (400, True)
    row = services.ban_prefix(list=services.create_list(name="Other", by=network.admin), prefix="203.0.113.9", author=network.admin)
    for path, changed in ((f"/api/bans/bans/{row.pk}/", {"until": at}), ("/api/bans/bans/", [{"id": row.pk, "until": at}])):
        assert script.patch(path, changed, content_type="application/json").status_code == 400
    assert list(Ban.objects.values_list("pk", "expires")) == [(row.pk, None)]


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00", "9999-12-31T23:59:59-14:00"])
def test_a_read_only_time_that_is_sent_back_otherwise_is_refused(network: factories.Network, script: Client, at: str) -> None:
    row = services.ban_prefix(list=services.create_list(name="Own", by=network.admin), prefix="203.0.113.9", author=network.admin)
    assert script.patch(f"/api/bans/bans/{row.pk}/", {"since": at}, content_type="application/json").status_code == 400


def iter_classes(of: type[Any]) -> Iterator[type[Any]]:
    for each in of.__subclasses__():
        yield each
        yield from iter_classes(each)


def test_each_field_that_takes_a_time_does_so(db: None) -> None:
    assert router.registry  # loads all serializers
    own = {each for each in iter_classes(serializers.Serializer) if each.__module__.startswith("apps.")}
    whole = [each for each in own if hasattr(each, "Meta") or not issubclass(each, serializers.ModelSerializer)]
    fields = [(each.__name__, name, getattr(field, "child", field)) for each in whole for name, field in each().fields.items()]
    times = [(of, name, type(field)) for of, name, field in fields if isinstance(field, serializers.DateTimeField)]
    assert len(times) > 30
    assert [each for each in times if each[2] is not MomentField] == []
