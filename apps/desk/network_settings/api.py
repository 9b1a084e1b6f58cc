"""REST API of the settings of the network: `/api/network/settings/1/`, of which there is one."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api.openapi.json_schema import INTEGER, TEXT, Shape, make_array, make_object
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.viewsets import ChangeOneViewSet, refuse_limited_token
from apps.preferences.declarations import SETTINGS
from apps.preferences.models import ONLY, NetworkSettings
from apps.preferences.selectors import get_settings_row
from apps.preferences.services import change_settings
from apps.preferences.setting import NumberSetting, PortsSetting, Setting


def _build_shape(setting: Setting[Any]) -> Shape:
    return INTEGER if isinstance(setting, NumberSetting) else make_array(INTEGER) if isinstance(setting, PortsSetting) else TEXT


class _LineField(serializers.CharField):
    """A text. A number is refused, where REST framework would take it as a text."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


VALUES: Shape = make_object(**{each.name: _build_shape(each) for each in SETTINGS})


class NetworkSettingsSerializer(ApiSerializer):
    """Settings of the network. null: the default. `in_force` has the values that apply; `version` is 0 if nothing was ever changed."""

    shapes: ClassVar[Mapping[str, Shape]] = {"in_force": VALUES, "defaults": VALUES}
    observed_fields = frozenset({"in_force", "defaults"})
    id = serializers.SerializerMethodField()
    in_force = serializers.SerializerMethodField()
    defaults = serializers.SerializerMethodField()
    version = serializers.IntegerField(min_value=0, required=False)

    class Meta:
        model = NetworkSettings
        fields = ["id", *(each.name for each in SETTINGS), "in_force", "defaults", "version"]

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        kind, options = super().build_standard_field(field_name, model_field)
        return (_LineField, options) if kind is serializers.CharField else (kind, options)

    def get_id(self, _row: NetworkSettings) -> int:
        return ONLY

    def get_in_force(self, row: NetworkSettings) -> dict[str, Any]:
        """The values that apply now."""
        return self.get_defaults(row) | {each.name: value for each in SETTINGS if (value := getattr(row, each.name)) is not None}

    def get_defaults(self, _row: NetworkSettings) -> dict[str, Any]:
        """The values that apply where nothing is set."""
        return {each.name: each.get_default() for each in SETTINGS}

    def update(self, instance: NetworkSettings, validated_data: Mapping[str, Any]) -> NetworkSettings:
        values = dict(validated_data)
        version = values.pop("version", instance.version)
        return change_settings(version=version, values=values, by=self.context["request"].user)


class NetworkSettingsViewSet(ChangeOneViewSet):
    """Settings of the network. There is one object, with the id 1. PATCH or PUT changes what is sent; null is the default."""

    queryset = NetworkSettings.objects.all()
    serializer_class = NetworkSettingsSerializer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        refuse_limited_token(request)

    def get_object(self) -> NetworkSettings:
        if self.kwargs["pk"] != str(ONLY):
            get_object_or_404(self.get_queryset().none())
        return get_settings_row()

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.respond_with(self.get_object())
