"""Rollouts, revisions, what is held back and holds in the REST API: the same services as the pages."""

from typing import Any

from django.db.models import Exists, Model, OuterRef, QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.deployments import decisions, selectors
from apps.deployments.models import HeldBack, Hold, Revision, RevisionContent, Rollout, RolloutStep
from apps.deployments.selectors import last_rollouts
from apps.lib.api.filters import filters_of
from apps.lib.api.openapi.operations import answers
from apps.lib.api.openapi.shapes import INTEGER, TEXT, TRUTH, Shape, array, mapping, nullable, record
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import Reads, given

EVIDENCE: Shape = array(record(what=TEXT, passed=nullable(TRUTH), ms=nullable({"type": "number"}), text=TEXT))
CHANGES: Shape = array(record(kind=TEXT, added=INTEGER, removed=INTEGER, changed=INTEGER, of=INTEGER))


class StepSerializer(ApiSerializer):
    shapes = {"evidence": EVIDENCE}
    gateway = serializers.StringRelatedField[Model]()

    class Meta:
        model = RolloutStep
        fields = [
            "gateway",
            "position",
            "state",
            "sent",
            "sent_octets",
            "committed",
            "commit_ms",
            "read_back_ms",
            "goes_back",
            "evidence",
            "confirmed",
            "flows_cut",
            "error",
        ]


class RolloutSerializer(ApiSerializer):
    shapes = {"changes": CHANGES}
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model](source="revision.by")
    changes = serializers.JSONField(source="revision.changes")
    steps = StepSerializer(many=True)

    class Meta:
        model = Rollout
        fields = ["id", "revision", "group", "state", "wish", "created", "finished", "by", "changes", "steps", "error"]
        brief = ["id", "revision", "group", "state"]


class RolloutViewSet(Reads):
    """Rollouts, the newest first."""

    serializer_class = RolloutSerializer
    filters = filters_of(Rollout, "revision", "group", "state", "created", "finished", by="revision__by")

    def get_queryset(self) -> QuerySet[Rollout]:
        return last_rollouts()

    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str = "") -> Response:
        """Stop before the next gateway."""
        decisions.pause(self.get_object(), by=_person(request))
        return self.answer(self.get_object())

    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str = "") -> Response:
        """Go on."""
        decisions.resume(self.get_object(), by=_person(request))
        return self.answer(self.get_object())

    @action(detail=True, methods=["post"])
    def abort(self, request: Request, pk: str = "") -> Response:
        """Take back what is on trial, leave the rest alone."""
        decisions.go_back_now(self.get_object(), by=_person(request))
        return self.answer(self.get_object())


def _person(request: Request) -> Any:
    """Whoever the token, or the session, is of: staff, as everywhere in this API."""
    return request.user


class RevisionSerializer(ApiSerializer):
    shapes = {"changes": CHANGES, "digests": mapping(TEXT)}
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model]()
    kept = serializers.BooleanField(read_only=True)

    class Meta:
        model = Revision
        fields = ["id", "group", "created", "by", "cause", "again", "changes", "elements", "digests", "kept"]
        brief = ["id", "group", "created"]


class WhySerializer(serializers.Serializer[Any]):
    """Why a group goes back."""

    why = serializers.CharField(max_length=200)


class HoldSerializer(ApiSerializer):
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model]()

    class Meta:
        model = Hold
        fields = ["id", "group", "revision", "by", "since", "why"]
        brief = ["id", "group", "revision"]


class RevisionViewSet(Reads):
    """Revisions, the newest first."""

    serializer_class = RevisionSerializer
    filters = filters_of(Revision, "group", "created", "by", "cause", "elements")

    def get_queryset(self) -> QuerySet[Revision]:
        kept = Exists(RevisionContent.objects.filter(revision=OuterRef("pk")))
        return Revision.objects.select_related("group", "by").annotate(kept=kept).defer("delta").order_by("-id")

    @answers(201, HoldSerializer)
    @action(detail=True, methods=["post"], serializer_class=WhySerializer)
    def rollback(self, request: Request, pk: str = "") -> Response:
        """Go back to it, and hold the group there."""
        hold = decisions.roll_back(self.get_object(), why=given(WhySerializer, request)["why"], by=_person(request))
        return Response(HoldSerializer(hold).data, status=201)


class HoldViewSet(Reads):
    """Groups that are held at an older revision."""

    serializer_class = HoldSerializer
    filters = filters_of(Hold, "group", "revision", "since")

    def get_queryset(self) -> QuerySet[Hold]:
        return selectors.holds()

    @answers(204)
    @action(detail=True, methods=["post"])
    def release(self, request: Request, pk: str = "") -> Response:
        """Let the group follow the database again."""
        decisions.release(self.get_object().group, by=_person(request))
        return Response(status=204)


class HeldBackSerializer(ApiSerializer):
    group = serializers.StringRelatedField[Model]()
    asked_by = serializers.StringRelatedField[Model]()
    decided_by = serializers.StringRelatedField[Model]()

    class Meta:
        model = HeldBack
        fields = ["id", "group", "kind", "digest", "removed", "of", "state", "since", "asked_by", "decided", "decided_by", "alone"]
        brief = ["id", "group", "kind", "state"]


class DigestSerializer(serializers.Serializer[Any]):
    """Exactly what is approved."""

    digest = serializers.CharField(max_length=64)


class HeldBackViewSet(Reads):
    """What waits for a second person, and what became of what waited, the newest first."""

    serializer_class = HeldBackSerializer
    filters = filters_of(HeldBack, "group", "kind", "digest", "removed", "state", "since", "decided")

    def get_queryset(self) -> QuerySet[HeldBack]:
        return selectors.held_back()

    @answers(200, HeldBackSerializer)
    @action(detail=True, methods=["post"], serializer_class=DigestSerializer)
    def approve(self, request: Request, pk: str = "") -> Response:
        """Let go out exactly what the digest stands for. One's own is approved on its page, where one can sign in again."""
        digest = given(DigestSerializer, request)["digest"]
        held = decisions.approve(self.get_object(), digest=digest, by=_person(request), signed_in_again=False)
        return Response(HeldBackSerializer(held).data)
