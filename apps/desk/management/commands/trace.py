"""manage.py trace: show what a gateway's ruleset does to a packet, and why; with --live, what its kernel does. Sends no packets."""

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.deployments.transport.agent_channel import open_session
from apps.desk.live_trace.command_line import print_live_trace
from apps.desk.live_trace.live_trace_session import USUAL_PACKETS, USUAL_SECONDS, LiveTraceRequest
from apps.desk.packet_trace import packet_trace_texts
from apps.desk.packet_trace.answer import TraceAnswer, answer_question
from apps.desk.packet_trace.export import answer_to_dict
from apps.desk.packet_trace.path import PathSection, list_path_stops
from apps.desk.packet_trace.question import (
    EPHEMERAL,
    INTERFACES,
    InvalidQuestion,
    TracedPacket,
    TraceQuestion,
    find_interface,
    parse_endpoints,
)
from apps.lib.errors import Problem
from apps.network.models import Gateway


class Command(BaseCommand):
    help = (
        "Show what a gateway's ruleset does to a packet, and which ban, forward or member is the reason; with --live, watch real packets. "
        "Nothing is sent."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help="address, or member (M-2207, a name); with --live also a prefix or “any”")
        parser.add_argument("destination", help="address or member, like the source")
        parser.add_argument("port", nargs="?", type=int, help="destination port (default: 443; with --live any)")
        parser.add_argument("--protocol", choices=["tcp", "udp", "icmp"], help="(default: tcp; with --live any, or tcp if there is a port)")
        parser.add_argument("--source-port", type=int, default=EPHEMERAL, metavar="PORT")
        parser.add_argument(
            "--in",
            dest="interface",
            choices=list(INTERFACES),
            default="",
            help="the interface where the packet arrives (default: the one that the source belongs to)",
        )
        parser.add_argument("--gateway", help="the gateway (default: the first by name)")
        parser.add_argument(
            "--packet",
            choices=list(TracedPacket),
            default=TracedPacket.FIRST,
            help="which packet of the connection: first, answer or next (default: first)",
        )
        parser.add_argument("--runs", action="store_true", help="use the ruleset that the gateway has confirmed, not the desired state")
        parser.add_argument("--at", type=datetime.fromisoformat, help="the time of the packet: 2026-11-12T21:16 (default: now)")
        parser.add_argument("--json", action="store_true", help="print JSON; with --live one line for each event")
        parser.add_argument("--live", action="store_true", help="watch what the gateway's kernel does to packets that pass now")
        parser.add_argument(
            "--seconds", type=int, default=USUAL_SECONDS, help="with --live: seconds to watch (default: %(default)s, at most 30)"
        )
        parser.add_argument(
            "--most", type=int, default=USUAL_PACKETS, help="with --live: number of packets (default: %(default)s, at most 100)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["live"]:
                self._watch(options)
                return
            found = answer_question(self._build_question(options))
        except InvalidQuestion as problem:
            raise CommandError(f"{problem.field}: {problem}") from problem
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        if options["json"]:
            self.stdout.write(json.dumps(answer_to_dict(found), indent=2, ensure_ascii=False))
        else:
            self._show(found)

    def _watch(self, options: dict[str, Any]) -> None:
        gateway, port = self._get_gateway(options["gateway"]), options["port"] or 0
        protocol = options["protocol"] or ("tcp" if port else "")
        ends = (options["source"], options["destination"])
        wish = LiveTraceRequest(gateway, *ends, protocol, port, options["interface"], options["seconds"], options["most"])
        with open_session(gateway) as channel:
            print_live_trace(channel, wish, self.stdout.write, as_json=options["json"])

    def _build_question(self, options: dict[str, Any]) -> TraceQuestion:
        source, destination = parse_endpoints(options["source"], options["destination"])
        gateway = self._get_gateway(options["gateway"])
        if options["interface"] and not find_interface(gateway, options["interface"]):
            raise InvalidQuestion("--in", f"{gateway} has no such interface.")
        port = 443 if options["port"] is None else options["port"]
        for name, value in (("port", port), ("source_port", options["source_port"])):
            if not 0 < value < 65536:
                raise InvalidQuestion(name, "must be between 1 and 65535.")
        at = options["at"]
        return TraceQuestion(
            gateway,
            source,
            destination,
            options["protocol"] or "tcp",
            port,
            options["source_port"],
            options["interface"],
            TracedPacket(options["packet"]),
            timezone.make_aware(at) if at and timezone.is_naive(at) else at,
            options["runs"],
        )

    def _get_gateway(self, name: str | None) -> Gateway:
        gateways = Gateway.objects.select_related("group").order_by("name")
        found = gateways.filter(name=name).first() if name else gateways.first()
        if found is None:
            known = ", ".join(gateways.values_list("name", flat=True)) or "none yet"
            raise CommandError(f"Unknown gateway {name or ''!r}. Known: {known}.")
        return found

    def _show(self, found: TraceAnswer) -> None:
        trace = found.trace
        self.stdout.write(
            f"{packet_trace_texts.render_packet(trace.packet)}, {trace.state}, to {trace.packet.interface} of {found.traceable.gateway}"
        )
        self.stdout.write(str(packet_trace_texts.describe_verdict(found)))
        if guessed := packet_trace_texts.describe_guess(found):
            self.stdout.write(guessed)
        if found.differs:
            self.stdout.write("The gateway's ruleset and the desired state differ here; compare with and without --runs.")
        for stop in list_path_stops(found):
            if stop.reached:
                self._show_stop(stop)

    def _show_stop(self, stop: PathSection) -> None:
        self.stdout.write(f"\n{stop.name}{f' ({stop.place})' if stop.place else ''}")
        for line in stop.lines:
            self.stdout.write(f"  {'*' if line.matched else ' '} {line.text}")
            said = "; ".join(filter(None, [line.read, line.did, *(f"{each.name} {each.note}".strip() for each in line.things)]))
            if said:
                self.stdout.write(f"      {said}")
        if stop.packet:
            self.stdout.write(f"    now {stop.packet}")
