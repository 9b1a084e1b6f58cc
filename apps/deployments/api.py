"""Rollouts, revisions, what is held back and holds in the REST API: the same services as the pages."""

from typing import Any

from django.db.models import Exists, Model, OuterRef, QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import filters, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.deployments import decisions, selectors
from apps.deployments.models import HeldBack, Hold, Revision, RevisionContent, Rollout, RolloutStep
from apps.deployments.selectors import last_rollouts


class StepSerializer(serializers.ModelSerializer[RolloutStep]):
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


class RolloutSerializer(serializers.ModelSerializer[Rollout]):
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model](source="revision.by")
    changes = serializers.JSONField(source="revision.changes")
    steps = StepSerializer(many=True)

    class Meta:
        model = Rollout
        fields = ["id", "revision", "group", "state", "wish", "created", "finished", "by", "changes", "steps", "error"]


class RolloutViewSet(viewsets.ReadOnlyModelViewSet[Rollout]):
    """Rollouts, the newest first."""

    serializer_class = RolloutSerializer
    filterset_fields = ["state", "group"]
    filter_backends = [DjangoFilterBackend, filters.OrderingFilter]
    ordering_fields = ["id", "created", "finished"]

    def get_queryset(self) -> QuerySet[Rollout]:
        return last_rollouts()

    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str = "") -> Response:
        """Stop before the next gateway."""
        decisions.pause(self.get_object(), by=_person(request))
        return Response(self.get_serializer(self.get_object()).data)

    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str = "") -> Response:
        """Go on."""
        decisions.resume(self.get_object(), by=_person(request))
        return Response(self.get_serializer(self.get_object()).data)

    @action(detail=True, methods=["post"])
    def abort(self, request: Request, pk: str = "") -> Response:
        """Take back what is on trial, leave the rest alone."""
        decisions.go_back_now(self.get_object(), by=_person(request))
        return Response(self.get_serializer(self.get_object()).data)


def _person(request: Request) -> Any:
    """Whoever the token, or the session, is of: staff, as everywhere in this API."""
    return request.user


class RevisionSerializer(serializers.ModelSerializer[Revision]):
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model]()
    kept = serializers.BooleanField(read_only=True)

    class Meta:
        model = Revision
        fields = ["id", "group", "created", "by", "cause", "again", "changes", "elements", "digests", "kept"]


class WhySerializer(serializers.Serializer[Any]):
    """Why a group goes back."""

    why = serializers.CharField(max_length=200)


class RevisionViewSet(viewsets.ReadOnlyModelViewSet[Revision]):
    """Revisions, the newest first."""

    serializer_class = RevisionSerializer
    filterset_fields = ["group"]
    filter_backends = [DjangoFilterBackend]

    def get_queryset(self) -> QuerySet[Revision]:
        kept = Exists(RevisionContent.objects.filter(revision=OuterRef("pk")))
        return Revision.objects.select_related("group", "by").annotate(kept=kept).defer("delta").order_by("-id")

    @action(detail=True, methods=["post"], serializer_class=WhySerializer)
    def rollback(self, request: Request, pk: str = "") -> Response:
        """Go back to it, and hold the group there."""
        given = WhySerializer(data=request.data)
        given.is_valid(raise_exception=True)
        hold = decisions.roll_back(self.get_object(), why=given.validated_data["why"], by=_person(request))
        return Response(HoldSerializer(hold).data, status=201)


class HoldSerializer(serializers.ModelSerializer[Hold]):
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model]()

    class Meta:
        model = Hold
        fields = ["id", "group", "revision", "by", "since", "why"]


class HoldViewSet(viewsets.ReadOnlyModelViewSet[Hold]):
    """Groups that are held at an older revision."""

    serializer_class = HoldSerializer

    def get_queryset(self) -> QuerySet[Hold]:
        return selectors.holds()

    @action(detail=True, methods=["post"])
    def release(self, request: Request, pk: str = "") -> Response:
        """Let the group follow the database again."""
        decisions.release(self.get_object().group, by=_person(request))
        return Response(status=204)


class HeldBackSerializer(serializers.ModelSerializer[HeldBack]):
    group = serializers.StringRelatedField[Model]()
    asked_by = serializers.StringRelatedField[Model]()
    decided_by = serializers.StringRelatedField[Model]()

    class Meta:
        model = HeldBack
        fields = ["id", "group", "kind", "digest", "removed", "of", "state", "since", "asked_by", "decided", "decided_by", "alone"]


class DigestSerializer(serializers.Serializer[Any]):
    """Exactly what is approved."""

    digest = serializers.CharField(max_length=64)


class HeldBackViewSet(viewsets.ReadOnlyModelViewSet[HeldBack]):
    """What waits for a second person, and what became of what waited, the newest first."""

    serializer_class = HeldBackSerializer
    filterset_fields = ["state", "group", "kind"]
    filter_backends = [DjangoFilterBackend]

    def get_queryset(self) -> QuerySet[HeldBack]:
        return selectors.held_back()

    @action(detail=True, methods=["post"], serializer_class=DigestSerializer)
    def approve(self, request: Request, pk: str = "") -> Response:
        """Let go out exactly what the digest stands for. One's own is approved on its page, where one can sign in again."""
        given = DigestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        held = decisions.approve(self.get_object(), digest=given.validated_data["digest"], by=_person(request), signed_in_again=False)
        return Response(HeldBackSerializer(held).data)
