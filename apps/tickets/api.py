"""Tickets and kept answers in the REST API: the same services as the pages of staff."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.filters import filters_of
from apps.lib.api.openapi.operations import answers
from apps.lib.api.openapi.shapes import INTEGER, TEXT, TIME, TRUTH, Shape, array, nullable, record
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import Adds, Changes, Reads, Removes, given
from apps.members.models import Member
from apps.tickets import canned, selectors, services
from apps.tickets.models import Canned, Message, Ticket

FILES: Shape = array(record(id=INTEGER, name=TEXT, size=INTEGER))
MESSAGE: Shape = record(
    id=INTEGER, kind=TEXT, author=nullable(INTEGER), sender=TEXT, verified=TRUTH, via=TEXT, text=TEXT, at=TIME, files=FILES
)


class TicketSerializer(ApiSerializer):
    shapes = {"tags": array(TEXT)}
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Ticket
        told = ["subject", "member", "address", "language", "opened_at", "touched_at", "first_answered_at"]
        fields = ["id", *told, "state", "priority", "assignee", "tags", "version"]
        read_only_fields = told
        brief = ["id", "subject", "state"]

    def update(self, instance: Ticket, validated_data: Mapping[str, Any]) -> Ticket:
        names = ("state", "priority", "assignee", "tags")
        facts = services.Facts(**{name: validated_data.get(name, getattr(instance, name)) for name in names})
        version = validated_data.get("version", instance.version)
        services.change(ticket=instance, version=version, facts=facts, by=self.context["request"].user)
        return Ticket.objects.get(pk=instance.pk)


class WriteSerializer(serializers.Serializer[Any]):
    """What staff writes to a member first."""

    member = serializers.PrimaryKeyRelatedField(queryset=Member.objects.all())
    subject = serializers.CharField(max_length=services.LONGEST_SUBJECT)
    text = serializers.CharField(max_length=services.LONGEST)


class AnswerSerializer(serializers.Serializer[Any]):
    """What is written to whoever asked; `solved` ends the ticket with it."""

    text = serializers.CharField(max_length=services.LONGEST)
    solved = serializers.BooleanField(default=False)


class NoteSerializer(serializers.Serializer[Any]):
    """What staff writes for itself."""

    text = serializers.CharField(max_length=services.LONGEST)


class TicketViewSet(Reads, Changes):
    """Tickets. A change takes `state`, `priority`, `assignee` and `tags`, and leaves the rest as it is."""

    serializer_class = TicketSerializer
    member_path = "member"
    filters = filters_of(
        Ticket, "member", "subject", "state", "priority", "assignee", "opened_at", "touched_at", "first_answered_at", "version"
    )
    http_method_names = ["get", "post", "patch", "head", "options"]

    def get_queryset(self) -> QuerySet[Ticket]:
        return Ticket.objects.defer("search").order_by("id")

    @answers(201, TicketSerializer)
    @action(detail=False, methods=["post"], serializer_class=WriteSerializer)
    def write(self, request: Request) -> Response:
        """Write to a member first, by mail and on the own page: a ticket that waits for the member."""
        made = services.write_to(by=self.writer(), **given(WriteSerializer, request))
        self.within_reach([made])
        return Response(TicketSerializer(self.get_queryset().get(pk=made.pk), context=self.get_serializer_context()).data, status=201)

    @answers(200, array(MESSAGE))
    @action(detail=True)
    def messages(self, request: Request, pk: str = "") -> Response:
        """The thread, with internal notes; files by name, to be saved on the ticket's page."""
        return Response([_shown(each) for each in selectors.thread(self.get_object())])

    @answers(201, MESSAGE)
    @action(detail=True, methods=["post"], url_path="answer", url_name="answer", serializer_class=AnswerSerializer)
    def answer_it(self, request: Request, pk: str = "") -> Response:
        """Write to whoever asked, by mail and on the own page; a ticket that is nobody's is then yours."""
        made = services.answer(ticket=self.get_object(), by=self.writer(), **given(AnswerSerializer, request))
        return Response(_shown(made), status=201)

    @answers(201, MESSAGE)
    @action(detail=True, methods=["post"], serializer_class=NoteSerializer)
    def note(self, request: Request, pk: str = "") -> Response:
        """Write something for staff alone."""
        made = services.note(ticket=self.get_object(), by=self.writer(), **given(NoteSerializer, request))
        return Response(_shown(made), status=201)

    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str = "") -> Response:
        """It is yours from now on; twice is harmless."""
        services.take(ticket=self.get_object(), by=self.writer())
        return self.answer(self.get_object())

    def writer(self) -> Any:
        """Whoever the token, or the session, is of."""
        return self.request.user


def _shown(message: Message) -> dict[str, Any]:
    facts = {name: getattr(message, name) for name in ("id", "kind", "sender", "verified", "via", "text", "at")}
    files = [{"id": each.pk, "name": each.name, "size": each.size} for each in message.attachments.all()]
    return facts | {"author": message.author_id, "files": files}


class CannedSerializer(ApiSerializer):
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Canned
        fields = ["id", "name", "text_de", "text_en", "version"]
        brief = ["id", "name"]
        validators: list[Any] = []

    def create(self, validated_data: Mapping[str, Any]) -> Canned:
        asked = {name: validated_data[name] for name in ("name", "text_de", "text_en")}
        return canned.add(by=self.context["request"].user, **asked)

    def update(self, instance: Canned, validated_data: Mapping[str, Any]) -> Canned:
        names = ("name", "text_de", "text_en", "version")
        asked = {name: validated_data.get(name, getattr(instance, name)) for name in names}
        canned.change(canned=instance, by=self.context["request"].user, **asked)
        return Canned.objects.get(pk=instance.pk)


class CannedViewSet(Reads, Adds, Changes, Removes):
    """Answers that are kept, in both languages."""

    serializer_class = CannedSerializer
    queryset = Canned.objects.order_by("id")
    filters = filters_of(Canned, "name", "version")

    def remove(self, row: Canned) -> None:
        canned.remove(canned=row, by=self.request.user)  # type: ignore[arg-type]  # signed in, as Allowed asked
