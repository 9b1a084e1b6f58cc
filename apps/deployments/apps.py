from django.apps import AppConfig


class DeploymentsConfig(AppConfig):
    name = "apps.deployments"

    def ready(self) -> None:
        from apps.deployments.selectors import activations
        from apps.lib.activation import register

        register(activations)
