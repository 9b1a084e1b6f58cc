from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class OperationsConfig(AppConfig):
    name = "apps.operations"

    def ready(self) -> None:
        autodiscover_modules("retention")
