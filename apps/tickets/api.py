"""REST API of tickets and canned answers: the same services as staff's pages."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.filters import build_filters
from apps.lib.api.openapi.json_schema import INTEGER, TEXT, TIME, TRUTH, Shape, make_array, make_nullable, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.unknown_fields import LINES, StrictSerializer
from apps.lib.api.viewsets import AddViewSet, ChangeViewSet, ReadViewSet, RemoveViewSet, parse_request
from apps.lib.errors import Problem
from apps.members.models import Member
from apps.tickets import bulk, canned, merging, selectors, services, splitting
from apps.tickets.models import Bulk, Canned, Message, Move, Ticket

FILES: Shape = make_array(make_object(id=INTEGER, name=TEXT, size=INTEGER))
MESSAGE: Shape = make_object(
    id=INTEGER, kind=TEXT, author=make_nullable(INTEGER), sender=TEXT, verified=TRUTH, via=TEXT, text=TEXT, at=TIME, files=FILES
)


class TicketSerializer(ApiSerializer):
    shapes = {"tags": make_array(TEXT)}
    observed_fields = frozenset({"touched_at", "first_answered_at"})
    version = serializers.IntegerField(required=False, min_value=1)

    class Meta:
        model = Ticket
        told = ["subject", "member", "address", "language", "opened_at", "touched_at", "first_answered_at"]
        fields = ["id", *told, "merged_into", "split_from", "state", "priority", "assignee", "tags", "version"]
        read_only_fields = [*told, "merged_into", "split_from"]
        brief = ["id", "subject", "state"]

    def update(self, instance: Ticket, validated_data: Mapping[str, Any]) -> Ticket:
        names = ("state", "priority", "assignee", "tags")
        facts = services.TicketFacts(**{name: validated_data.get(name, getattr(instance, name)) for name in names})
        version = validated_data.get("version", instance.version)
        services.change_ticket(ticket=instance, version=version, facts=facts, by=self.context["request"].user)
        return Ticket.objects.get(pk=instance.pk)


class WriteSerializer(StrictSerializer):
    """Staff's first message to a member."""

    member = serializers.PrimaryKeyRelatedField(queryset=Member.objects.all())
    subject = serializers.CharField(max_length=services.LONGEST_SUBJECT)
    text = serializers.CharField(max_length=services.LONGEST, style=LINES)


class AnswerSerializer(StrictSerializer):
    """Answer to the asker; `solved` also sets the ticket's state to solved."""

    text = serializers.CharField(max_length=services.LONGEST, style=LINES)
    solved = serializers.BooleanField(default=False)


class NoteSerializer(StrictSerializer):
    """Internal note."""

    text = serializers.CharField(max_length=services.LONGEST, style=LINES)


class AssignMemberSerializer(StrictSerializer):
    """Member who gets a ticket."""

    member = serializers.PrimaryKeyRelatedField(queryset=Member.objects.all())


class MergeSerializer(StrictSerializer):
    """Numbers of the tickets that are merged into this one."""

    shapes = {"tickets": make_array(INTEGER)}
    tickets = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=merging.MAX_MERGED_TICKETS)


class SplitSerializer(StrictSerializer):
    """Messages that become a ticket of their own, with the same member or without one."""

    shapes = {"messages": make_array(INTEGER)}
    messages = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=1000)
    subject = serializers.CharField(max_length=services.LONGEST_SUBJECT)
    same_member = serializers.BooleanField(default=True)


class AnswerManySerializer(StrictSerializer):
    """One answer to many tickets, in German, English or both. Repeated requests with the same `key` send it once."""

    shapes = {"key": TEXT, "tickets": make_array(INTEGER)}
    key = serializers.UUIDField(default=uuid4)
    tickets = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=bulk.MAX_TICKETS)
    text_de = serializers.CharField(max_length=canned.LONGEST, default="", allow_blank=True, style=LINES)
    text_en = serializers.CharField(max_length=canned.LONGEST, default="", allow_blank=True, style=LINES)
    solved = serializers.BooleanField(default=False)


class SentSerializer(ApiSerializer):
    shapes = {"key": TEXT, "left_out": make_array(make_object(ticket=INTEGER, why=TEXT)), "tickets": INTEGER, "answered": INTEGER}
    tickets = serializers.SerializerMethodField()
    answered = serializers.SerializerMethodField()
    left_out = serializers.SerializerMethodField()

    class Meta:
        model = Bulk
        fields = ["id", "key", "text_de", "text_en", "state", "by", "at", "tickets", "answered", "left_out"]
        read_only_fields = fields
        brief = ["id", "tickets", "answered"]

    def get_tickets(self, row: Bulk) -> int:
        return len(row.items.all())

    def get_answered(self, row: Bulk) -> int:
        return sum(each.done_at is not None and not each.why for each in row.items.all())

    def get_left_out(self, row: Bulk) -> list[dict[str, Any]]:
        return [{"ticket": each.ticket_id, "why": each.why} for each in row.items.all() if each.why]


class BulkAnswerViewSet(ReadViewSet):
    """Answers to many tickets, with the number of tickets answered so far, and the tickets left out with the reason."""

    serializer_class = SentSerializer
    queryset = Bulk.objects.prefetch_related("items").order_by("id")
    filters = build_filters(Bulk, "by", "at", "state")


class TicketViewSet(ReadViewSet, ChangeViewSet):
    """Tickets. A change may set `state`, `priority`, `assignee` and `tags`; what it does not name stays."""

    serializer_class = TicketSerializer
    member_path = "member"
    filters = build_filters(
        Ticket,
        "member",
        "merged_into",
        "split_from",
        "subject",
        "state",
        "priority",
        "assignee",
        "opened_at",
        "touched_at",
        "first_answered_at",
        "version",
    )
    http_method_names = ["get", "post", "patch", "head"]

    def get_queryset(self) -> QuerySet[Ticket]:
        return Ticket.objects.order_by("id")

    @declare_response(201, TicketSerializer)
    @action(detail=False, methods=["post"], serializer_class=WriteSerializer)
    def write(self, request: Request) -> Response:
        """Open a ticket with a first message to a member, sent by mail and shown on their page. It waits for the member's reply."""
        made = services.write_to(by=self.get_writer(), **parse_request(WriteSerializer, request))
        self.validate_reach([made])
        return Response(TicketSerializer(self.get_queryset().get(pk=made.pk), context=self.get_serializer_context()).data, status=201)

    @declare_response(200, make_array(MESSAGE))
    @action(detail=True)
    def messages(self, request: Request, pk: str = "") -> Response:
        """List the messages of the thread, with internal notes. Files are listed by name; download them on the ticket's page."""
        return Response([_render_message(each) for each in selectors.list_messages(self.get_object())])

    @declare_response(201, MESSAGE)
    @action(detail=True, methods=["post"], url_path="answer", url_name="answer", serializer_class=AnswerSerializer)
    def answer_it(self, request: Request, pk: str = "") -> Response:
        """Write to the asker, by mail and on their page. A ticket without assignee is then assigned to you."""
        made = services.answer_ticket(ticket=self.get_object(), by=self.get_writer(), **parse_request(AnswerSerializer, request))
        return Response(_render_message(made), status=201)

    @declare_response(201, MESSAGE)
    @action(detail=True, methods=["post"], serializer_class=NoteSerializer)
    def note(self, request: Request, pk: str = "") -> Response:
        """Add an internal note, which only staff sees."""
        made = services.add_note(ticket=self.get_object(), by=self.get_writer(), **parse_request(NoteSerializer, request))
        return Response(_render_message(made), status=201)

    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str = "") -> Response:
        """Assign the ticket to yourself. Idempotent."""
        services.take_ticket(ticket=self.get_object(), by=self.get_writer())
        return self.respond_with(self.get_object())

    @action(detail=True, methods=["post"], url_path="assign-member", serializer_class=AssignMemberSerializer)
    def assign_member(self, request: Request, pk: str = "") -> Response:
        """Give a ticket without a member to a member, who then sees it and gets the answers."""
        services.assign_member(ticket=self.get_object(), by=self.get_writer(), **parse_request(AssignMemberSerializer, request))
        return self.render_ticket(self.get_object())

    @action(detail=True, methods=["post"], serializer_class=MergeSerializer)
    def merge(self, request: Request, pk: str = "") -> Response:
        """Merge other tickets of the same member, or without a member, into this one: they point to it from now on. No mail is sent."""
        merging.merge_tickets(
            into=self.get_object(),
            tickets=self.list_named_tickets(parse_request(MergeSerializer, request)["tickets"]),
            by=self.get_writer(),
        )
        return self.render_ticket(self.get_object())

    @action(detail=True, methods=["post"])
    def unmerge(self, request: Request, pk: str = "") -> Response:
        """Undo the merge of this ticket: it is a ticket of its own again. Messages that came after the merge stay where they are."""
        ticket = self.get_object()
        move = ticket.moves_out.filter(kind=Move.Kind.MERGE, undone_at=None).first()
        if move is None:
            raise Problem(_("#%(ticket)d is not merged.") % {"ticket": ticket.pk})
        merging.undo_merge(move=move, by=self.get_writer())
        return self.render_ticket(self.get_object())

    @declare_response(201, TicketSerializer)
    @action(detail=True, methods=["post"], serializer_class=SplitSerializer)
    def split(self, request: Request, pk: str = "") -> Response:
        """Split chosen messages off into a ticket of their own. No mail is sent."""
        asked = parse_request(SplitSerializer, request)
        made = splitting.split_ticket(ticket=self.get_object(), by=self.get_writer(), **asked)
        self.validate_reach([made])
        return self.render_ticket(made, code=201)

    @declare_response(202, SentSerializer)
    @action(detail=False, methods=["post"], url_path="answer-many", serializer_class=AnswerManySerializer)
    def answer_many(self, request: Request) -> Response:
        """Send one answer to many tickets, each in its reader's language. `tickets/answers/{id}/` shows the progress."""
        asked = parse_request(AnswerManySerializer, request)
        tickets = self.list_named_tickets(asked.pop("tickets"))
        return Response(SentSerializer(bulk.answer_tickets(tickets=tickets, by=self.get_writer(), **asked)).data, status=202)

    def list_named_tickets(self, numbers: Sequence[int]) -> list[Ticket]:
        """Return the tickets with these numbers. Raise Problem for one that does not exist or is out of the token's scope."""
        found = self.find(numbers)
        if missing := [number for number in numbers if number not in found]:
            raise Problem(_("There is no ticket #%(ticket)d.") % {"ticket": missing[0]}, "tickets")
        return [found[number] for number in dict.fromkeys(numbers)]

    def render_ticket(self, ticket: Ticket, code: int = 200) -> Response:
        """Return a response with the ticket as it is now, in the ticket's own serializer instead of the action's."""
        shown = TicketSerializer(self.get_queryset().get(pk=ticket.pk), context=self.get_serializer_context())
        return Response(shown.data, status=code)

    def get_writer(self) -> Any:
        """Return the user of the token or the session."""
        return self.request.user


def _render_message(message: Message) -> dict[str, Any]:
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
        return canned.add_canned_answer(by=self.context["request"].user, **asked)

    def update(self, instance: Canned, validated_data: Mapping[str, Any]) -> Canned:
        names = ("name", "text_de", "text_en", "version")
        asked = {name: validated_data.get(name, getattr(instance, name)) for name in names}
        canned.change_canned_answer(canned=instance, by=self.context["request"].user, **asked)
        return Canned.objects.get(pk=instance.pk)


class CannedViewSet(ReadViewSet, AddViewSet, ChangeViewSet, RemoveViewSet):
    """Canned answers in German and English."""

    serializer_class = CannedSerializer
    queryset = Canned.objects.order_by("id")
    filters = build_filters(Canned, "name", "version")

    def remove(self, row: Canned) -> None:
        canned.remove_canned_answer(canned=row, by=self.request.user)  # type: ignore[arg-type]  # signed in: Allowed checked it
