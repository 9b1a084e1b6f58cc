from django.apps import AppConfig


class DeploymentsConfig(AppConfig):
    name = "apps.deployments"

    def ready(self) -> None:
        from apps.deployments import running
        from apps.deployments.selectors import activations
        from apps.lib import context, navigation
        from apps.lib.activation import register

        register(activations)
        context.says_what_runs(running.what_runs)
        navigation.counts("deployments:rollouts")(running.asking)
