from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class GatewaysConfig(AppConfig):
    name = "apps.gateways"

    def ready(self) -> None:
        from apps.audit.trail import RowUndoPolicy, TrailPresentation, register_trail
        from apps.bans.models import Notice
        from apps.deployments.rollouts.gateway_order import register_carried_families_lookup
        from apps.deployments.rollouts.going_back import register_return_listener
        from apps.deployments.rollouts.rollout_obstacles import register_obstacle_lookup
        from apps.deployments.rollouts.warnings import register_warning_lookup
        from apps.deployments.transport import ssh
        from apps.gateways import failover_settings, former_gateway, groups, retirement, services
        from apps.gateways.agent_upgrade.run_store import blocks_rollouts
        from apps.gateways.evidence import requests as evidence_requests
        from apps.gateways.roles import observation, rollout_warnings, top_bar
        from apps.lib.web import context_processors
        from apps.nat.models import PortRules
        from apps.network.models import Failover, Gateway, GatewayGroup, Limits, Profile, Protection, Uplink
        from apps.traffic.models import FairShare

        context_processors.register_note_lookup(top_bar.summarize_worst_deviation)
        register_warning_lookup(rollout_warnings.list_rollout_warnings)
        register_obstacle_lookup(blocks_rollouts)
        register_carried_families_lookup(observation.count_carried_families)
        register_return_listener(evidence_requests.request_evidence_before_return)
        register_trail(
            TrailPresentation(
                Gateway,
                called=_("Gateway"),
                href=lambda row: reverse("gateways:gateway", args=[row.pk]),
                values={"host_key": ssh.compute_fingerprint},
                undo_by=RowUndoPolicy(
                    route="gateways:undo",
                    remove=retirement.remove_gateway,
                    explain=lambda error, _row: services.explain_gateway_error(error),
                    prepare=former_gateway.prepare_gateway_undo,
                ),
            )
        )
        least = {"removal_least": _("number of removals from which a second person must agree")}  # the form shows it after the share
        register_trail(
            TrailPresentation(
                GatewayGroup,
                called=_("Gateway group"),
                href=lambda row: reverse("gateways:group", args=[row.pk]),
                fields=least,
                undo_by=RowUndoPolicy(
                    route="gateways:group-undo",
                    remove=lambda row: groups.remove_group(group=row),
                    explain=groups.explain_group_error,
                    parts=(Protection, Limits, Profile, Uplink, PortRules, Notice, FairShare, Failover),
                    prepare=groups.check_group_undo,
                ),
            )
        )
        register_trail(
            TrailPresentation(Protection, called=_("Protection"), href=lambda row: reverse("gateways:protection", args=[row.group_id]))
        )
        register_trail(TrailPresentation(Profile, called=_("Profile"), href=lambda row: reverse("gateways:profile", args=[row.group_id])))
        register_trail(TrailPresentation(Limits, called=_("Limits"), href=lambda row: reverse("gateways:limits", args=[row.group_id])))
        register_trail(
            TrailPresentation(
                Failover,
                called=_("Failover"),
                href=lambda row: reverse("gateways:failover-settings", args=[row.group_id]),
                undo_by=RowUndoPolicy(
                    route="gateways:failover-undo",
                    remove=lambda row: row.delete(),
                    explain=failover_settings.explain_failover_error,
                    prepare=failover_settings.check_failover_undo,
                ),
            )
        )
