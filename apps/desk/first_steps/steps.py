"""The steps from an empty database to a first packet, each checked against what the database holds and what gateways reported.

Nothing is stored: a step is done as soon as its check says so, in whatever order people go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.desk.first_steps import checks, live_checks, mail_checks
from apps.desk.first_steps.finding import StepFinding
from apps.lib.ui.states import StateKind, StateLabel


@dataclass(frozen=True, slots=True)
class Step:
    """A step. why: what it is for; route: name of the page's URL where it is done; verb: the button to it; needed: False for advice.

    send: name of a URL that the page sends to, and the button's words.
    """

    name: str | Promise
    why: str | Promise
    route: str
    verb: str | Promise
    check: Callable[[User], StepFinding]
    needed: bool = True
    send: tuple[str, str | Promise] | None = None


STEPS: Final = (
    Step(
        gettext_lazy("Your account"),
        gettext_lazy("People who run the network sign in with a second factor: a code or a passkey."),
        "mfa_index",
        gettext_lazy("Set up"),
        checks.check_second_factor,
        needed=False,  # where it is required, nobody sees this page without one
    ),
    Step(
        gettext_lazy("The network"),
        gettext_lazy("Its name stands in titles and mails; the contact is whom members ask."),
        "desk:settings",
        gettext_lazy("Settings"),
        checks.check_name_and_contact,
        needed=False,
    ),
    Step(
        gettext_lazy("A second administrator"),
        gettext_lazy("Large removals wait until a second person agrees. Alone, you cannot make them."),
        "accounts:invitations",
        gettext_lazy("Invite"),
        checks.check_second_administrator,
        needed=False,
    ),
    Step(
        gettext_lazy("Mail out"),
        gettext_lazy("Members get links, answers and warnings by mail."),
        "mail:outbox",
        gettext_lazy("Outbox"),
        mail_checks.check_mail_out,
        needed=False,
        send=("desk:first-steps-mail", gettext_lazy("Send a test mail to me")),
    ),
    Step(
        gettext_lazy("Mail in"),
        gettext_lazy("What members answer or write becomes a ticket."),
        "inbound:arrivals",
        gettext_lazy("Inbox"),
        mail_checks.check_mail_in,
        needed=False,
    ),
    Step(
        gettext_lazy("A gateway group"),
        gettext_lazy("Gateways of a group run the same rules, one in reserve for the other."),
        "gateways:group-add",
        gettext_lazy("Add group"),
        checks.check_groups,
    ),
    Step(
        gettext_lazy("Gateways"),
        gettext_lazy("The Linux machines that carry the members’ traffic: two, so that one may fail."),
        "gateways:join",
        gettext_lazy("Add gateway"),
        checks.check_gateways,
    ),
    Step(
        gettext_lazy("Pools of addresses"),
        gettext_lazy("Private ones for members’ devices, public ones that they leave as, and IPv6 prefixes."),
        "network:addresses",
        gettext_lazy("Add pool"),
        checks.check_pools,
    ),
    Step(
        gettext_lazy("Houses and rooms"),
        gettext_lazy("Where members live. A network without houses can leave this out."),
        "members:sites",
        gettext_lazy("Add house"),
        checks.check_sites,
        needed=False,
    ),
    Step(
        gettext_lazy("Tariffs"),
        gettext_lazy("What a member may have: forwards, devices, a rate."),
        "members:tariffs",
        gettext_lazy("Add tariff"),
        checks.check_tariffs,
    ),
    Step(
        gettext_lazy("Members with addresses"),
        gettext_lazy("Only active members with an address reach the internet."),
        "desk:members",
        gettext_lazy("Add member"),
        checks.check_members,
    ),
    Step(
        gettext_lazy("What would be deployed"),
        gettext_lazy("The plan: whom the gateways would serve, and who could still reach them. Nothing is sent."),
        "gateways:list",
        gettext_lazy("Show the plan"),
        live_checks.check_group_plan,
    ),
    Step(
        gettext_lazy("Go live"),
        gettext_lazy("Until you press it on the plan’s page, nothing is deployed and the old router stays in charge."),
        "gateways:list",
        gettext_lazy("To the plan"),
        live_checks.check_live,
    ),
    Step(
        gettext_lazy("First rollout"),
        gettext_lazy("A worker sends the rules to one gateway after the other, and confirms what works."),
        "deployments:rollouts",
        gettext_lazy("Rollouts"),
        live_checks.check_rollout,
    ),
    Step(
        gettext_lazy("A packet through each gateway"),
        gettext_lazy("With a probe, a rollout is confirmed only after a connection has passed the gateway and come back."),
        "gateways:list",
        gettext_lazy("Gateways"),
        live_checks.check_probe_replies,
        needed=False,
    ),
)


@dataclass(frozen=True, slots=True)
class CheckedStep:
    """A step with its finding."""

    step: Step
    finding: StepFinding

    @property
    def url(self) -> str:
        return self.finding.url or reverse(self.step.route)

    @property
    def send_url(self) -> str:
        return reverse(self.step.send[0]) if self.step.send else ""

    @property
    def state(self) -> StateLabel:
        """The state as pages show it."""
        if self.finding.done:
            return StateLabel(StateKind.OK, _("done"))
        return StateLabel(StateKind.WAIT, _("to do")) if self.step.needed else StateLabel(StateKind.PLAIN, _("advised"))


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """All steps as they are now."""

    steps: Sequence[CheckedStep]

    @property
    def done_number(self) -> int:
        return sum(each.finding.done for each in self.steps)

    @property
    def next(self) -> CheckedStep | None:
        """The first needed step that is not done; None if the network runs."""
        return next((each for each in self.steps if each.step.needed and not each.finding.done), None)


def check_steps(user: User) -> FirstSteps:
    """Check all steps for this account."""
    return FirstSteps([CheckedStep(step, step.check(user)) for step in STEPS])
