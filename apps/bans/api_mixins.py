"""What blocks and listeners share in the REST API."""

from rest_framework import serializers

from apps.lib.api.serializers import ActiveSerializer


class ChangeableSerializer(ActiveSerializer):
    """A change may name the version it was made from."""

    version = serializers.IntegerField(required=False, min_value=1)
