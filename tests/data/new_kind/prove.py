"""Follows a permit from the API to the gateways and back to words, in a tree that has the new kind. Prints what it saw as JSON."""

import json
import sys
from ipaddress import IPv4Address

import django

django.setup()

from apps.nat.mail_permits.models import MailPermit  # noqa: E402
from django.db import connection  # noqa: E402  - settings come first
from django.test.utils import override_settings  # noqa: E402
from django.utils import timezone  # noqa: E402

from apps.deployments.approvals.effects import iter_affected_things  # noqa: E402
from apps.deployments.desired_state.desired_rulesets import compute_desired_state, update_desired_state  # noqa: E402
from apps.deployments.desired_state.policy_snapshot import take_changes  # noqa: E402
from apps.deployments.revision_pages.change_summary import render_summary  # noqa: E402
from apps.deployments.rule_kinds.kind import SetElement  # noqa: E402
from apps.deployments.rule_kinds.registry import get_removal_definition, list_element_origins  # noqa: E402
from firewall.ruleset import Ruleset  # noqa: E402
from firewall.sets import ObjectKind  # noqa: E402
from firewall.summary import summarize  # noqa: E402
from firewall.tracing import Packet, trace  # noqa: E402
from tests import factories  # noqa: E402
from tests.db.page_client import signed_in  # noqa: E402
from tests.packets.gateway_cables import ROUTES  # noqa: E402

SET = "mail_permit4"


def send_mail(ruleset: Ruleset, source: str) -> str:
    mail = Packet("lan0", IPv4Address(source), IPv4Address("203.0.113.9"), 6, 40_000, 25, flags=frozenset({"syn"}))
    return trace(ruleset, mail, ROUTES, now=int(timezone.now().timestamp())).outcome.value


def prove() -> dict[str, object]:
    network = factories.network()
    resident, gateway = network.residents["m1"], network.gateways[0].pk
    before = compute_desired_state(network.group)
    answer = signed_in(network.admin).post("/api/nat/mailpermits/", {"holding": resident.holding.pk}, content_type="application/json")
    changed = take_changes(network.group, before.snapshot)
    after = update_desired_state(before, changed) if changed else None
    assert after, "the change touched nothing that is known"
    ruleset, delta = after.rulesets[gateway], after.deltas[gateway].delta
    [(key, element)] = ruleset.elements[SET].items()
    [thing] = iter_affected_things({SET: ruleset.elements[SET]})
    MailPermit.objects.all().delete()
    get_removal_definition(ObjectKind("mailpermits")).restore(thing, network.admin)
    return {
        "answer": answer.status_code,
        "read_alike": after.digests == compute_desired_state(network.group).digests,
        "summary": render_summary(summarize(delta, ruleset)),
        "with_permit": send_mail(ruleset, "10.16.0.10"),
        "without_permit": send_mail(ruleset, "10.16.0.12"),
        "origin": list_element_origins(SetElement(ruleset.sets[SET], key, element, timezone.now()))[0].name,
        "removed": thing.words,
        "restored": MailPermit.objects.count(),
    }


with override_settings(ALLOWED_HOSTS=["testserver"], REQUIRE_SECOND_FACTOR=False):
    sys.stdout.write(json.dumps(prove()))
connection.close()
