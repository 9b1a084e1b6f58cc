"""Sentences after a change of gateways: what follows for them, or that nothing follows before their group is live."""

from django.utils.translation import gettext as _

from apps.network.models import Gateway, GatewayGroup


def describe_saved_gateway(gateway: Gateway) -> str:
    if gateway.group.live_since is None:
        return _describe_saved_unsent(gateway.group)
    return _("Saved. The next rollout rewrites the rules of %(gateway)s in a moment.") % {"gateway": gateway}


def describe_saved_settings(group: GatewayGroup) -> str:
    if group.live_since is None:
        return _describe_saved_unsent(group)
    return _("Saved. The gateways get it with the next rollout, in a moment.")


def describe_not_live(gateway: Gateway) -> str:
    return _("Nothing was sent: %(gateway)s gets its first rules when %(group)s goes live.") % _name(gateway)


def describe_replaced(gateway: Gateway) -> str:
    if gateway.group.live_since is None:
        return _("%(gateway)s is another machine now. It gets its first rules when %(group)s goes live.") % _name(gateway)
    return _("%(gateway)s is another machine now. It gets its whole ruleset in a moment.") % _name(gateway)


def describe_joined(gateway: Gateway) -> str:
    if gateway.group.live_since is None:
        return _("%(gateway)s is a gateway now. It gets its first rules when %(group)s goes live.") % _name(gateway)
    return _("%(gateway)s is a gateway now. The first rules follow in a moment.") % _name(gateway)


def _describe_saved_unsent(group: GatewayGroup) -> str:
    return _("Saved. The gateways get it when %(group)s goes live.") % {"group": group}


def _name(gateway: Gateway) -> dict[str, object]:
    return {"gateway": gateway, "group": gateway.group}
