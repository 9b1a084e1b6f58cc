"""Serializer that blocks and listeners share in the REST API."""

from rest_framework import serializers

from apps.lib.api.serializers import ActiveSerializer


class VersionedSerializer(ActiveSerializer):
    """A row that can be changed. A change may name the `version` that it is based on."""

    version = serializers.IntegerField(required=False, min_value=1)
