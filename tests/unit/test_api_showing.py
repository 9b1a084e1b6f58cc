"""The fast serializer shows rows exactly as REST framework would."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.exceptions import ObjectDoesNotExist
from rest_framework import serializers

from apps.lib.api.serializers import ApiSerializer
from apps.members.models import Device, Member


class Shown(ApiSerializer):
    owner = serializers.CharField(source="member.name", read_only=True)
    called = serializers.CharField(source="get_name", read_only=True, default="nobody")
    absent = serializers.CharField(read_only=True, default="by default")
    left_out = serializers.CharField(required=False)
    twice = serializers.SerializerMethodField()

    class Meta:
        model = Device
        fields = ["id", "member", "name", "mac", "owner", "called", "absent", "left_out", "twice"]

    def get_twice(self, row: Any) -> str:
        return str(row.name) * 2


@dataclass
class Other:
    """A row that is not a model and has no member."""

    id: int = 7
    name: str | None = None
    mac: str = "00:00:5e:00:53:01"
    left_out: str = "not left out"
    held: dict[str, int] = field(default_factory=dict)

    @property
    def member(self) -> object:
        raise ObjectDoesNotExist

    def get_name(self) -> str:
        return "called"


def _device(**known: Any) -> Device:
    return Device(id=3, member=Member(id=17, name="Selin"), name="Laptop", mac="00:00:5e:00:53:02")


@pytest.mark.parametrize("row", [_device(), Device(id=4, name=""), Other()], ids=["whole", "of nobody", "no model"])
def test_every_field_says_what_the_frameworks_own_way_says(row: Any) -> None:
    serializer = Shown()
    assert serializer.to_representation(row) == dict(serializers.ModelSerializer.to_representation(serializer, row))
