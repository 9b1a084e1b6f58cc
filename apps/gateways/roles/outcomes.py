"""Outcomes of switches, and steps on the way: a code with values, which is rendered in the reader's language."""

from enum import StrEnum

from django.utils.translation import gettext as _

from apps.gateways.roles.models import RoleSwitch
from apps.network.gateway_sentences import translate_about_gateway


class Outcome(StrEnum):
    """How a switch ended. The first four are successes."""

    MOVED = "moved"
    DRAINED = "drained"
    RESUMED = "resumed"
    INSTALLED = "installed"
    REFUSED = "refused"  # before anything was done
    DEPLOYING = "deploying"
    NO_PACKETS_BEFORE = "no packets yet"
    NOT_TAKEN = "not taken"
    NO_PACKETS = "no packets"
    NOT_BEGUN = "not begun"  # the last five are installations after which the files are those before
    NOT_INSTALLED = "not installed"
    TWO_CARRIERS = "two carriers"
    NO_CARRIER = "no carrier"
    NO_MORE_PACKETS = "no more packets"
    FAULT = "fault"
    LOST = "lost"


class InstallStep(StrEnum):
    """How far an installation got."""

    ASKED = "asked"
    TRIAL = "trial"
    KEEPING = "keeping"
    REVERTING = "reverting"


class SwitchFailed(Exception):  # noqa: N818 - a state of the gateways, not an error of the program
    """The switch did not succeed; the gateways are left as the outcome says."""

    def __init__(self, outcome: Outcome, **details: str) -> None:
        super().__init__(outcome.value)
        self.outcome, self.details = outcome, details


def end_sentence(text: str) -> str:
    """Return the text with a full stop, unless it is a sentence already."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def describe_outcome(row: RoleSwitch) -> str:
    """Return a sentence on how the switch ended, "" if it has not."""
    words = {
        Outcome.MOVED: _("%(families)s: carried by %(target)s after %(seconds)s s. %(packets)s"),
        Outcome.DRAINED: _("%(gateway)s has given %(families)s up, until it is back again. %(packets)s"),
        Outcome.RESUMED: _("%(gateway)s is ready to take over %(families)s again."),
        Outcome.INSTALLED: _("%(gateway)s runs its new files. %(packets)s"),
        Outcome.NOT_BEGUN: _(
            "Nothing on %(gateway)s began to install within %(seconds)s s. Does netzwart-failover-install.path run there?"
            " “systemctl status” says it."
        ),
        Outcome.NOT_INSTALLED: _("%(gateway)s has the files that it had before. %(reason)s"),
        Outcome.TWO_CARRIERS: _(
            "With the new files %(names)s carried IPv%(family)s at the same time, so %(gateway)s has those before again. If the virtual"
            " router’s number is another, install by hand on all gateways, without a pause between them."
        ),
        Outcome.NO_CARRIER: _("With the new files no gateway carried IPv%(family)s, so %(gateway)s has those before again."),
        Outcome.NO_MORE_PACKETS: _("With the new files packets did not pass through %(gateway)s, so it has those before again. %(reason)s"),
        Outcome.REFUSED: _("Nothing was done. %(reason)s"),
        Outcome.DEPLOYING: _("Nothing was done: a deploy had not ended after %(seconds)s s. Switch when it has."),
        Outcome.NO_PACKETS_BEFORE: _("Nothing was done: packets do not pass through %(target)s. %(reason)s"),
        Outcome.NOT_TAKEN: _("%(target)s did not take %(families)s over within %(seconds)s s, so %(gateway)s was told to keep it."),
        Outcome.NO_PACKETS: _("Packets did not pass through %(target)s, so %(gateway)s carries %(families)s again. %(reason)s"),
        Outcome.FAULT: _("It was broken off: %(reason)s Look at the roles as they are now."),
        Outcome.LOST: _("The worker that did it has ended. Look at the roles as they are now."),
    }
    if row.outcome not in frozenset(Outcome):
        return ""
    values = dict.fromkeys(("target", "seconds", "packets", "reason", "names", "family"), "") | row.details
    values |= {name: translate_about_gateway(str(values[name])) for name in ("packets", "reason")}
    text = words[Outcome(row.outcome)] % (values | {"gateway": row.gateway.name, "families": row.families_text})
    return str(text).strip()


def describe_step(row: RoleSwitch) -> str:
    """Return a sentence on what is done now, "" if the switch has no steps or has ended."""
    words = {
        InstallStep.ASKED: _("%(gateway)s renders its files and starts both programs with them."),
        InstallStep.TRIAL: _("The files are on trial: the portal looks who carries what."),
        InstallStep.KEEPING: _("All is well: %(gateway)s is told to keep the files."),
        InstallStep.REVERTING: _("Something is wrong: %(gateway)s puts the files before back."),
    }
    step = row.details.get("step") if row.state == RoleSwitch.State.RUNNING else None
    return words[InstallStep(step)] % {"gateway": row.gateway.name} if step in frozenset(InstallStep) else ""
