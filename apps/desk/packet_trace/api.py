"""REST API of packet traces, as an action of gateways."""

from dataclasses import replace

from django.utils.translation import gettext as _
from rest_framework import exceptions, serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.desk.packet_trace.answer import log_question
from apps.desk.packet_trace.export import answer_to_dict
from apps.desk.packet_trace.form import START, QuestionForm
from apps.desk.packet_trace.question import InvalidQuestion
from apps.desk.packet_trace.tracer import TracerUnavailable, tracer
from apps.desk.selectors.search import parse_search
from apps.gateways.api_lifecycle import GatewayLifecycleViewSet
from apps.lib.api.openapi.json_schema import INTEGER, TEXT, TIME, TRUTH, Shape, make_array, make_mapping, make_nullable, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.token_scope import can_token_see_member

THING: Shape = make_object(kind=TEXT, name=TEXT, note=TEXT, url=TEXT)
RULE: Shape = make_object(number=INTEGER, matched=TRUTH, text=TEXT, read=TEXT, did=TEXT, things=make_array(THING))
ANSWER: Shape = make_object(
    gateway=TEXT,
    at=TIME,
    outcome=TEXT,
    refusal=make_nullable(TEXT),
    state=TEXT,
    in_words=TEXT,
    because_of=make_array(THING),
    packet=TEXT,
    comes_in=TEXT,
    guessed=make_nullable(TEXT),
    leaves_as=make_nullable(TEXT),
    leaves_by=make_nullable(TEXT),
    path=make_array(make_object(chain=TEXT, packet_then=make_nullable(TEXT), rules=make_array(RULE))),
    elements_counted=make_array(make_object(set=TEXT, key=TEXT, packets=INTEGER)),
    counters=make_mapping(INTEGER),
    elsewhere=make_mapping(TEXT),
)
ASKED = {
    "source": "from this address, or this member’s",
    "destination": "to this address, or this member’s",
    "protocol": "tcp (default), udp or icmp",
    "port": "destination port (default: 443)",
    "source_port": "source port (default: 50000)",
    "way": "which packet of the connection: first (default), next or answer",
    "interface": "interface where it arrives: lan, wan, servers, management, sync or probe (default: the one that the source belongs to)",
    "ruleset": "wanted (default): the desired state; runs: what the gateway has confirmed",
}


class TracerAway(exceptions.APIException):
    """The process that traces packets does not answer now."""

    status_code = 503
    default_code = "away"


class GatewayWithTraceViewSet(GatewayLifecycleViewSet):
    """Gateways: their interfaces, management addresses and manual changes, and traces of packets through their rulesets."""

    @declare_response(200, ANSWER, **ASKED)
    @action(detail=True)
    def trace(self, request: Request, pk: str = "") -> Response:
        """Trace a packet through the gateway's ruleset. Sends no packet. Members are named only to tokens that may read members."""
        named = can_token_see_member(request.auth)
        given = (
            START
            | {"gateway": self.get_object().name}
            | {name: request.query_params.get(name, "") for name in ASKED if name in request.query_params}
        )
        form = QuestionForm(given)
        if not named and (
            name := next((name for name in ("source", "destination") if not parse_search(str(given.get(name, ""))).address), "")
        ):
            raise serializers.ValidationError({f"?{name}": _("Give an address: names need a token with the scope member:read.")})
        if not form.is_valid():
            raise serializers.ValidationError({f"?{name}": [str(text) for text in texts] for name, texts in form.errors.items()})
        try:
            question = replace(form.build_question(), named=named)
            log_question(question, request.user)
            return Response(answer_to_dict(tracer.ask(question)))
        except InvalidQuestion as problem:
            raise serializers.ValidationError({f"?{problem.field}": str(problem)}) from problem
        except TracerUnavailable as problem:
            raise TracerAway(str(problem)) from problem
