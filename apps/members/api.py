"""REST API of members, their devices, tariffs, sites and rooms."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.fields import MacText
from apps.lib.api.filter_types import TEXT
from apps.lib.api.filters import CustomFilter, build_filters
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet
from apps.members import services, site_services, tariff_services
from apps.members.models import Device, Member, Room, Site, Tariff
from apps.members.selectors import search_members
from apps.members.services import MemberFacts
from apps.members.tariff_services import TariffTerms
from apps.preferences.declarations import DEFAULT_LANGUAGE
from apps.preferences.selectors import read_setting

FACTS = ("name", "email", "language", "tariff", "room", "since", "paid_until", "note")


class MemberSerializer(ApiSerializer):
    fixed_fields = frozenset({"number"})
    number = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    tariff_name = serializers.StringRelatedField[Any](source="tariff")
    room_name = serializers.StringRelatedField[Any](source="room")
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Member
        fields = [
            "id",
            "number",
            "name",
            "email",
            "language",
            "state",
            "tariff",
            "tariff_name",
            "room",
            "room_name",
            "since",
            "paid_until",
            "note",
            "version",
        ]
        read_only_fields = ["state"]
        brief = ["id", "number", "name", "state"]

    def create(self, validated_data: Mapping[str, Any]) -> Member:
        blank = {"email": "", "room": None, "paid_until": None, "note": ""}
        if "language" not in validated_data:
            blank["language"] = read_setting(DEFAULT_LANGUAGE)
        facts = MemberFacts(**{name: (blank | dict(validated_data))[name] for name in FACTS})
        return services.add_member(facts=facts, number=validated_data.get("number"), by=self.context["request"].user)

    def update(self, instance: Member, validated_data: Mapping[str, Any]) -> Member:
        facts = MemberFacts(**{name: validated_data.get(name, getattr(instance, name)) for name in FACTS})
        version = validated_data.get("version", instance.version)
        return services.change_member(member=instance, version=version, facts=facts, by=self.context["request"].user)


class MemberViewSet(ReadViewSet, AddViewSet, ChangeViewSet):
    """Members. `search` looks in the name, number, room, address and MAC address."""

    queryset = Member.objects.select_related("tariff", "room__site").order_by("name", "id")
    serializer_class = MemberSerializer
    member_path = "pk"
    filters = build_filters(
        Member,
        "number",
        "name",
        "email",
        "language",
        "state",
        "tariff",
        "room",
        "since",
        "paid_until",
        "version",
        site="room__site",
    ) | {"search": CustomFilter(TEXT, search_members, "words, a number, room, address or MAC address")}

    @action(detail=True, methods=["post"])
    def activate(self, request: Request, pk: str = "") -> Response:
        """Activate the membership, so that the member can use the network. Idempotent."""
        services.activate_member(member=self.get_object(), by=request.user)  # type: ignore[arg-type]  # signed in: RolePermission requires it
        return self.respond_with(self.get_object())

    @action(detail=True, methods=["post"])
    def leave(self, request: Request, pk: str = "") -> Response:
        """End the membership now: addresses and forwards are kept for the hold period, then released. Idempotent."""
        services.end_membership(member=self.get_object(), by=request.user)  # type: ignore[arg-type]  # likewise
        return self.respond_with(self.get_object())


class DeviceSerializer(ApiSerializer):
    fixed_fields = frozenset({"member"})
    mac = MacText()

    class Meta:
        model = Device
        fields = ["id", "member", "name", "mac"]
        brief = ["id", "name", "mac"]

    def create(self, validated_data: Mapping[str, Any]) -> Device:
        return services.add_device(by=self.context["request"].user, **validated_data)

    def update(self, instance: Device, validated_data: Mapping[str, Any]) -> Device:
        given = {name: validated_data.get(name, getattr(instance, name)) for name in ("name", "mac")}
        return services.change_device(device=instance, by=self.context["request"].user, **given)


class DeviceViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Members' devices. `member` cannot be changed after creation."""

    queryset = Device.objects.order_by("id")
    serializer_class = DeviceSerializer
    member_path = "member"
    filters = build_filters(Device, "member", "name", "mac")

    def remove(self, row: Device) -> None:
        services.remove_device(device=row, by=self.request.user)  # type: ignore[arg-type]  # signed in: RolePermission requires it


class TariffSerializer(ApiSerializer):
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Tariff
        fields = ["id", "name", "most_forwards", "most_devices", "up_kbit", "down_kbit", "trial", "offered", "version"]
        validators: list[Any] = []

    def create(self, validated_data: Mapping[str, Any]) -> Tariff:
        given = {name: value for name, value in validated_data.items() if name != "version"}
        return tariff_services.add_tariff(terms=TariffTerms(**given), by=self.context["request"].user)

    def update(self, instance: Tariff, validated_data: Mapping[str, Any]) -> Tariff:
        given = {each.name: validated_data.get(each.name, getattr(instance, each.name)) for each in fields(TariffTerms)}
        version = validated_data.get("version", instance.version)
        return tariff_services.change_tariff_terms(
            tariff=instance, version=version, terms=TariffTerms(**given), by=self.context["request"].user
        )


class TariffViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Tariffs: the limits and rates that a member has. Rates are in kbit/s; null means unlimited.

    Only a tariff that no member has or had can be removed; set `offered` to false so that no other member gets it.
    """

    serializer_class = TariffSerializer
    queryset = Tariff.objects.order_by("id")
    filters = build_filters(Tariff, "name", "most_forwards", "most_devices", "up_kbit", "down_kbit", "trial", "offered", "version")

    def remove(self, row: Tariff) -> None:
        tariff_services.remove_tariff(row)


class SiteSerializer(ApiSerializer):
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Site
        fields = ["id", "code", "name", "version"]
        validators: list[Any] = []

    def create(self, validated_data: Mapping[str, Any]) -> Site:
        return site_services.add_site(name=validated_data["name"], code=validated_data["code"])

    def update(self, instance: Site, validated_data: Mapping[str, Any]) -> Site:
        given = {name: validated_data.get(name, getattr(instance, name)) for name in ("name", "code", "version")}
        return site_services.change_site(site=instance, **given)


class SiteViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Sites: the buildings with members' rooms. Removing a site also removes its rooms; 409 while one of them is in use."""

    serializer_class = SiteSerializer
    queryset = Site.objects.order_by("id")
    filters = build_filters(Site, "code", "name", "version")

    def remove(self, row: Site) -> None:
        site_services.remove_site(row)


class RoomSerializer(ApiSerializer):
    fixed_fields = frozenset({"site"})
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Room
        fields = ["id", "site", "floor", "name", "version"]
        validators: list[Any] = []

    def create(self, validated_data: Mapping[str, Any]) -> Room:
        return site_services.add_room(site=validated_data["site"], floor=validated_data["floor"], name=validated_data["name"])

    def update(self, instance: Room, validated_data: Mapping[str, Any]) -> Room:
        given = {name: validated_data.get(name, getattr(instance, name)) for name in ("floor", "name", "version")}
        return site_services.change_room(room=instance, **given)


class RoomViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Rooms of sites. `site` cannot be changed after creation; 409 if a room that is in use is removed."""

    serializer_class = RoomSerializer
    filters = build_filters(Room, "site", "floor", "name", "version")

    def get_queryset(self) -> QuerySet[Room]:
        return Room.objects.select_related("site").order_by("id")

    def remove(self, row: Room) -> None:
        site_services.remove_room(row)
