"""Outcomes of switches: a code with values, which is rendered in the reader's language."""

from enum import StrEnum

from django.utils.translation import gettext as _

from apps.gateways.roles.models import RoleSwitch


class Outcome(StrEnum):
    """How a switch ended. The first three are successes."""

    MOVED = "moved"
    DRAINED = "drained"
    RESUMED = "resumed"
    REFUSED = "refused"  # before anything was done
    NO_PACKETS_BEFORE = "no packets yet"
    NOT_TAKEN = "not taken"
    NO_PACKETS = "no packets"
    FAULT = "fault"
    LOST = "lost"


def describe_outcome(row: RoleSwitch) -> str:
    """Return a sentence on how the switch ended, "" if it has not."""
    words = {
        Outcome.MOVED: _("%(families)s: carried by %(target)s after %(seconds)s s. %(packets)s"),
        Outcome.DRAINED: _("%(gateway)s has given %(families)s up, until it is back again. %(packets)s"),
        Outcome.RESUMED: _("%(gateway)s is ready to take over %(families)s again."),
        Outcome.REFUSED: _("Nothing was done. %(reason)s"),
        Outcome.NO_PACKETS_BEFORE: _("Nothing was done: packets do not pass through %(target)s. %(reason)s"),
        Outcome.NOT_TAKEN: _("%(target)s did not take %(families)s over within %(seconds)s s, so %(gateway)s was told to keep it."),
        Outcome.NO_PACKETS: _("Packets did not pass through %(target)s, so %(gateway)s carries %(families)s again. %(reason)s"),
        Outcome.FAULT: _("It was broken off: %(reason)s Look at the roles as they are now."),
        Outcome.LOST: _("The worker that did it has ended. Look at the roles as they are now."),
    }
    if row.outcome not in frozenset(Outcome):
        return ""
    values = dict.fromkeys(("target", "seconds", "packets", "reason"), "") | row.details
    text = words[Outcome(row.outcome)] % (values | {"gateway": row.gateway.name, "families": row.families_text})
    return str(text).strip()
