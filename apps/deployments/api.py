"""Rollouts in the REST API."""

from django.db.models import Model, QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import filters, serializers, viewsets

from apps.deployments.models import Rollout, RolloutStep
from apps.deployments.selectors import last_rollouts


class StepSerializer(serializers.ModelSerializer[RolloutStep]):
    gateway = serializers.StringRelatedField[Model]()

    class Meta:
        model = RolloutStep
        fields = ["gateway", "position", "state", "sent", "sent_octets", "committed", "commit_ms", "read_back_ms", "confirmed", "error"]


class RolloutSerializer(serializers.ModelSerializer[Rollout]):
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model](source="revision.by")
    changes = serializers.JSONField(source="revision.changes")
    steps = StepSerializer(many=True)

    class Meta:
        model = Rollout
        fields = ["id", "revision", "group", "state", "created", "finished", "by", "changes", "steps", "error"]


class RolloutViewSet(viewsets.ReadOnlyModelViewSet[Rollout]):
    """Rollouts, the newest first."""

    serializer_class = RolloutSerializer
    filterset_fields = ["state", "group"]
    filter_backends = [DjangoFilterBackend, filters.OrderingFilter]
    ordering_fields = ["id", "created", "finished"]

    def get_queryset(self) -> QuerySet[Rollout]:
        return last_rollouts()
