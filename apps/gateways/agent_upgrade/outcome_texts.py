"""Sentences about steps of an upgrade, in the reader's language: what is done now, or why it stopped and what to do."""

from enum import StrEnum

from django.utils.translation import gettext as _

from apps.gateways.agent_upgrade.models import AgentUpgradeStep
from apps.gateways.roles.outcomes import end_sentence
from apps.network.gateway_sentences import translate_about_gateway


class UpgradeProblem(StrEnum):
    """Why a step did not succeed. The first six come before anything was done."""

    AWAY = "away"
    OLDER = "older"
    NOT_TAKEN = "not taken"
    UNCONFIRMED = "unconfirmed"
    CHANGED = "changed"
    REFUSED = "refused"
    ENDED = "ended"
    SILENT = "silent"
    UNHEALTHY = "unhealthy"


def describe_problem(step: AgentUpgradeStep) -> str:
    """Return why the step did not succeed, and what to do; "" if it did, or goes on."""
    words = {
        UpgradeProblem.AWAY: _("%(gateway)s does not answer: %(reason)s Upgrade again when it does."),
        UpgradeProblem.OLDER: _("The agent of %(gateway)s cannot do this yet. Install the package there once; the gateway’s page has it."),
        UpgradeProblem.NOT_TAKEN: _("%(gateway)s takes no program from the portal: %(reason)s"),
        UpgradeProblem.UNCONFIRMED: _("%(gateway)s does not run the rules that it confirmed last. Deploy first, then upgrade again."),
        UpgradeProblem.CHANGED: _("The portal itself has another release now. Upgrade again."),
        UpgradeProblem.REFUSED: _("%(gateway)s refused the program: %(reason)s"),
        UpgradeProblem.ENDED: _("The new program did not stay on %(gateway)s, which runs the one before: %(reason)s"),
        UpgradeProblem.SILENT: _("%(gateway)s did not answer with the new program, so it puts the one before back by itself."),
        UpgradeProblem.UNHEALTHY: _(
            "With the new program something was worse, so %(gateway)s was told to put the one before back: %(reason)s"
        ),
    }
    if step.problem not in frozenset(UpgradeProblem):
        return ""
    reason = end_sentence(translate_about_gateway(step.reason)) if step.reason else ""
    return (words[UpgradeProblem(step.problem)] % {"gateway": step.gateway.name, "reason": reason}).strip()


def describe_step(step: AgentUpgradeStep) -> str:
    """Return a sentence on how far the step is."""
    words = {
        AgentUpgradeStep.State.WAITING: _("%(gateway)s waits for its turn, and until no rollout or switch is under way."),
        AgentUpgradeStep.State.SENDING: _("%(gateway)s gets the program."),
        AgentUpgradeStep.State.TRIAL: _("%(gateway)s tries the program. Without the portal’s word it goes back by itself."),
        AgentUpgradeStep.State.CONFIRMED: _("%(gateway)s runs the new program."),
        AgentUpgradeStep.State.CURRENT: _("%(gateway)s ran this program already."),
        AgentUpgradeStep.State.SKIPPED: _("%(gateway)s keeps its program, because the upgrade stopped before."),
    }
    state = AgentUpgradeStep.State(step.state)
    return describe_problem(step) or words[state] % {"gateway": step.gateway.name}


def describe_package_need(step: AgentUpgradeStep) -> str:
    """Return a sentence if the gateway needs the package as well, "" otherwise."""
    words = _("%(gateway)s needs the package: its units or the commands of root there are of another release, and no program brings them.")
    return words % {"gateway": step.gateway.name} if step.needs_package else ""
