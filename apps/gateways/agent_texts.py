"""Texts about agents of an older release: which features each version of their protocol brought, as people know them."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from apps.gateways.agent_package.debian_package import build_agent_package
from firewall.wire_versions import VERSION

FEATURES: Mapping[int, tuple[Promise, ...]] = {
    9: (
        gettext_lazy("probes from outside to inside"),
        gettext_lazy("packets and drops by receive queue of a card"),
        gettext_lazy("upgrades of the agent by the portal"),
        gettext_lazy("a list of what a gateway has that a restored database lacks"),
        gettext_lazy("sampled limits of open connections"),
        gettext_lazy("fair queues of the uplink"),
    ),
}
"""What a gateway does only from this version on, as parts of a list. A version that adds anything to the protocol needs an entry."""


def list_missing_features(protocol: int) -> list[str]:
    """Return the features that an agent of this version of the protocol lacks."""
    return [str(each) for version, features in sorted(FEATURES.items()) if version > protocol for each in features]


def is_agent_older(protocol: int, than: int = VERSION) -> bool:
    """True if the agent is known to speak only a version of the protocol before `than`. protocol: 0 if it has not answered yet."""
    return 0 < protocol < than


def get_own_release() -> str:
    """Return the version of the agent that belongs to this portal."""
    return build_agent_package().version
