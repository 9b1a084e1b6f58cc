"""REST API of address lookups. The question is the object; its answer is only in the response to the request that asks."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework import serializers

from apps.audit.models import Enquiry
from apps.desk.address_lookup_log import record_and_answer_lookup
from apps.desk.selectors.addresses import LookupAnswer
from apps.lib.api.fields import AddressText, MomentField
from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import INTEGER, TEXT, TIME, Shape, make_array, make_nullable, make_object
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import AddViewSet, ReadViewSet
from apps.members.models import Member

MEMBER: Shape = make_object(id=INTEGER, number=INTEGER, name=TEXT)
HOLDING_ANSWER: Shape = make_object(member=MEMBER, address=TEXT, since=TIME, until=make_nullable(TIME))
NAT_ANSWER: Shape = make_object(
    member=MEMBER,
    private_address=TEXT,
    first_port=make_nullable(INTEGER),
    last_port=make_nullable(INTEGER),
    since=TIME,
    until=make_nullable(TIME),
)
FORWARD_ANSWER: Shape = make_object(
    member=MEMBER, protocol=TEXT, private_address=TEXT, private_port=INTEGER, purpose=TEXT, since=TIME, until=make_nullable(TIME)
)
CONFIRMED_BY_GATEWAY: Shape = make_object(gateway=TEXT, since=make_nullable(TIME))
LOOKUP_ANSWER: Shape = make_object(
    only=make_nullable(MEMBER),
    confirmed=make_array(CONFIRMED_BY_GATEWAY),
    unnamed=TEXT,
    held=make_nullable(HOLDING_ANSWER),
    left_as=make_array(NAT_ANSWER),
    more=INTEGER,
    led_to=make_array(FORWARD_ANSWER),
)


class EnquirySerializer(ApiSerializer):
    shapes = {"answer": make_nullable(LOOKUP_ANSWER)}
    by = serializers.StringRelatedField[Any](source="by.name")
    address = AddressText()
    port = serializers.IntegerField(min_value=1, max_value=65535, required=False, allow_null=True)
    at = MomentField(required=False)
    answer = serializers.SerializerMethodField()

    class Meta:
        model = Enquiry
        fields = ["id", "by", "asked", "address", "port", "at", "reason", "answer"]
        read_only_fields = ["asked"]
        brief = ["id", "by", "asked", "address"]

    def create(self, validated_data: Mapping[str, Any]) -> Enquiry:
        question = {"port": None, "at": timezone.now()} | dict(validated_data)
        noted, answer = record_and_answer_lookup(**question, by=self.context["request"].user)
        noted.answered = answer  # type: ignore[attr-defined]  # read by the serializer only
        return noted

    def get_answer(self, enquiry: Enquiry) -> dict[str, Any] | None:
        """The answer, in the response to the POST that asks; null in all later responses.

        `only`: the one member who can have had the port or address.
        """
        answer: LookupAnswer | None = getattr(enquiry, "answered", None)
        return lookup_to_dict(answer) if answer else None


class EnquiryViewSet(ReadViewSet, AddViewSet):
    """Address lookups: who asked which member had an address, and why.

    POST asks; its response contains the answer, and the lookup stays on record.
    """

    serializer_class = EnquirySerializer
    filters = build_filters(Enquiry, "by", "asked", "address", "port", "at", "reason")

    def get_queryset(self) -> QuerySet[Enquiry]:
        return Enquiry.objects.select_related("by").order_by("-id")


def lookup_to_dict(answer: LookupAnswer) -> dict[str, Any]:
    """Return the answer as plain data.

    `more`: number of further members who left as the address; `unnamed`: why `only` is null, in words.
    """
    held, alone = answer.holding, answer.sole_mapping
    only = held.member if held else alone.holding.member if alone else None
    return {
        "only": _member_to_dict(only) if only else None,
        "confirmed": [{"gateway": each.gateway, "since": each.since} for each in answer.confirmations],
        "unnamed": answer.unnamed_reason,
        "held": {"member": _member_to_dict(held.member), "address": held.address, **_validity_to_dict(held)} if held else None,
        "left_as": [
            {
                "member": _member_to_dict(each.holding.member),
                "private_address": each.holding.address,
                "first_port": each.block.lower if each.block else None,
                "last_port": each.block.upper - 1 if each.block else None,
                **_validity_to_dict(each),
            }
            for each in answer.leaving
        ],
        "more": answer.more,
        "led_to": [
            {
                "member": _member_to_dict(each.holding.member),
                "protocol": each.protocol,
                "private_address": each.holding.address,
                "private_port": each.private_port + (answer.port or each.public_port) - each.public_port,
                "purpose": each.purpose,
                **_validity_to_dict(each),
            }
            for each in answer.forwards
        ],
    }


def _member_to_dict(member: Member) -> dict[str, Any]:
    return {"id": member.pk, "number": member.number, "name": member.name}


def _validity_to_dict(row: Any) -> dict[str, Any]:
    return {"since": row.valid.lower, "until": row.valid.upper}
