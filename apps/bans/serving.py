"""What blocks and listeners share in the REST API: rows that reach gateways, and can be changed."""

from typing import Any

from rest_framework import serializers, viewsets

from apps.lib.serving import ActiveRows, ActiveSerializer


class ChangeableSerializer(ActiveSerializer):
    """A change may name the version it was made from."""

    version = serializers.IntegerField(required=False, min_value=1)


class RowsViewSet(ActiveRows, viewsets.ModelViewSet[Any]):
    """List, read, add, change, remove."""
