"""Made-up but realistic data for the style guide, with addresses reserved for documentation."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from math import pi, sin

from django import forms
from django.core.paginator import Paginator
from django.utils import timezone

from apps.lib.ui.charts import sample
from apps.lib.ui.states import GatewayLane, GatewaySymbol, RolloutLaneStep, StateKind, StateLabel, SymbolState

BOTH = (GatewaySymbol("nat-1", SymbolState.FULL), GatewaySymbol("nat-2", SymbolState.FULL))
ACTIVE, BLOCKED = StateLabel(StateKind.ACTIVE, "Active"), StateLabel(StateKind.BAD, "Blocked", "blocked")
LIMITED, MOVES = StateLabel(StateKind.WARN, "Limited", "limited"), StateLabel(StateKind.MOVING, "Moves 15 Nov", "moves")
CONFIRMED = StateLabel(StateKind.OK, "Confirmed")


@dataclass(frozen=True)
class SampleMember:
    name: str
    room: str
    state: StateLabel
    private: str
    public: str
    prefix: str
    octets: int
    forwards: int
    paid_until: date
    posts: tuple[GatewaySymbol, ...] = BOTH
    picked: bool = False


def _parse_member(line: str) -> SampleMember:
    name, room, state, private, public, gigabytes, forwards, paid, *picked = line.split("|")
    states = {"a": ACTIVE, "b": BLOCKED, "l": LIMITED, "m": MOVES, "u": StateLabel(StateKind.PLAIN, "Unapproved")}
    prefix = f"2001:db8:a0:2{room[2:]}::/64" if private else ""
    posts = BOTH if private else ()
    return SampleMember(
        name,
        room,
        states[state],
        private,
        public,
        prefix,
        int(float(gigabytes) * 1e9),
        int(forwards),
        date.fromisoformat(paid),
        posts,
        bool(picked),
    )


MEMBERS = """\
Amara Okonkwo|B-101|a|10.12.33.10|198.51.100.5|214|2|2026-09-30|x
Anh Tuấn Lê|B-312|b|10.12.35.41|198.51.100.9|1120|0|2026-09-30
Bartosz Wiśniewski|B-207|a|10.12.34.27|198.51.100.6|88.4|1|2026-09-30
Chiara Esposito|B-118|l|10.12.33.62|198.51.100.5|496|0|2026-09-30
Daniel Hoffmann|B-405|a|10.12.36.18|203.0.113.86|742|8|2026-09-30|x
Elif Yıldız|B-220|a|10.12.34.71|198.51.100.7|61|1|2026-09-30
Fatoumata Diallo|B-109|a|10.12.33.29|198.51.100.5|32.7|0|2026-10-15
Finn Lüders|B-333|m|10.12.35.77|198.51.100.10|12.9|1|2026-10-31
Gaurav Deshpande|B-401|a|10.12.36.5|198.51.100.12|328|3|2026-10-31|x
Hanna Schäfer-Nguyen|B-216|a|10.12.34.60|198.51.100.7|147|1|2026-10-31
Ibrahim Al-Sayed|B-308|b|10.12.35.12|198.51.100.9|0|0|2026-10-31
Jonas Brandt|B-107|a|10.12.33.24|198.51.100.7|404|4|2026-10-31|x
Julia Kowalczyk|B-410|a|10.12.36.33|203.0.113.91|519|6|2026-10-31
Katarzyna Zielińska|B-125|a|10.12.33.80|198.51.100.6|93.3|0|2026-10-31
Lucía Fernández Ortega|B-229|a|10.12.34.94|198.51.100.8|176|1|2026-10-31
Maximilian Freiherr von Reitzenstein|B-301|a|10.12.35.2|198.51.100.9|255|2|2026-10-31
Nils Petersen|B-111|l|10.12.33.35|198.51.100.5|988|0|2026-11-15
Oluwaseun Adeyemi|B-318|a|10.12.35.58|198.51.100.10|120|0|2026-11-15
Priya Raman|B-222|a|10.12.34.76|198.51.100.8|44.1|0|2026-11-15
Quentin Lefèvre|B-404|u|||0|0|2026-11-30"""


def build_sample_members() -> dict[str, object]:
    rows = [_parse_member(line) for line in MEMBERS.splitlines()]
    return {"title": "Members", "sort": "paid", "rows": rows, "page": Paginator(range(38), 20).page(1)}


def build_dashboard() -> dict[str, object]:
    return {
        "title": "6 things need you, both gateways answer",
        "waits": _list_waits(),
        "rollouts": _list_rollouts(),
        "gateways": _list_gateways(),
        "charts": _draw_charts(),
    }


def _list_waits() -> list[tuple[object, ...]]:
    return [
        (
            StateLabel(StateKind.WAIT, "Approval"),
            "612 removals wait for a second person",
            "held back from r4813: 25.3 % of all NAT mappings, the limit is 20 %",
            "21:13",
            "Review",
        ),
        (
            StateLabel(StateKind.WARN, "Finding"),
            "nat-1: one core does 94 % of the work",
            "one flow or a forwarding loop; last change before it: r4809, 20:49",
            "20:52",
            "Show evidence",
        ),
        (
            StateLabel(StateKind.BAD, "Gone back", "back"),
            "r4806 was not confirmed on nat-1",
            "no new ssh session in 30 s; nat-1 returned to r4805, nobody has looked at it yet",
            "18:12",
            "Open",
        ),
        (
            StateLabel(StateKind.WARN, "Unanswered", "overdue"),
            "3 tickets without an answer for over 24 h",
            "the oldest: #1187 “No connection in C-318 after the move”",
            "Tue 10 Nov",
            "Open tickets",
        ),
        (
            StateLabel(StateKind.PLAIN, "Quarantine", "quarantine"),
            "1 mail could not be read",
            "From header of 41 kB; parser stopped after 2 s, later mails were read",
            "19:40",
            "Look at it",
        ),
        (
            StateLabel(StateKind.PLAIN, "Expiring", "clock"),
            "12 bans end within 24 h",
            "2 of them were hit in the last hour",
            "next 23:00",
            "Review",
        ),
    ]


def _list_rollouts() -> list[tuple[object, ...]]:
    half = (GatewaySymbol("nat-1", SymbolState.HALF), GatewaySymbol("nat-2", SymbolState.FULL))
    back = (GatewaySymbol("nat-1", SymbolState.CROSSED), GatewaySymbol("nat-2", SymbolState.FULL))
    return [
        (
            "r4813",
            "1 listener, 41 NAT mappings, 3 forwards; 612 removals held back",
            "Jakob Wirth",
            "21:13:40",
            "17 s so far",
            half,
            StateLabel(StateKind.MOVING, "Confirming"),
        ),
        ("r4812", "1 port forward added", "Selin Kaya, herself", "21:02:11", "0.38 s", BOTH, CONFIRMED),
        ("r4811", "2 bans ended", "schedule", "21:00:00", "0.31 s", BOTH, CONFIRMED),
        ("r4810", "1,204 bans added, 986 removed by the feed “netset-level1”", "feed", "20:51:30", "0.92 s", BOTH, CONFIRMED),
        ("r4809", "41 members moved to house C, 41 mappings changed", "Jakob Wirth", "20:49:02", "0.62 s", BOTH, CONFIRMED),
        (
            "r4806",
            "Rule change: ICMPv6 limit on input",
            "Tomasz Nowak",
            "18:12:20",
            "31 s",
            back,
            StateLabel(StateKind.BAD, "Gone back", "back"),
        ),
    ]


def _list_gateways() -> list[dict[str, object]]:
    return [
        {
            "name": "nat-1",
            "primary": "IPv4",
            "standby": "IPv6",
            "state": StateLabel(StateKind.MOVING, "Confirming, 14 s"),
            "busiest": 94,
            "core": 5,
            "cores": [28, 25, 18, 34, 94, 26, 27, 19],
            "packets": 212_000,
            "down": 1.84e9,
            "up": 310e6,
            "states": 148_210,
            "runs": "r4812",
            "note": ", trying r4813",
            "probe": "IPv4 1.2, IPv6 1.4 ms",
            "peer": 148_190,
        },
        {
            "name": "nat-2",
            "primary": "IPv6",
            "standby": "IPv4",
            "state": CONFIRMED,
            "busiest": 38,
            "core": 2,
            "cores": [22, 38, 20, 27, 24, 29, 15, 21],
            "packets": 164_000,
            "down": 1.12e9,
            "up": 95e6,
            "states": 91_544,
            "runs": "r4813",
            "note": " since 21:13",
            "probe": "IPv4 1.3, IPv6 1.2 ms",
            "peer": 91_530,
        },
    ]


def _draw_charts() -> list[tuple[object, ...]]:
    charts: list[tuple[str, str, tuple[int, ...], list[float], list[float], float]] = [
        ("Packets", "k/s", (300, 200, 100, 0), _compute_day(200, 48), _compute_day(150, 32), 300),
        ("Busiest core", "%", (100, 50, 0), _compute_day(42, 15), _compute_day(38, 12), 100),
        ("Forwarded, down", "Gbit/s", (3, 2, 1, 0), _compute_day(1.9, 0.4), _compute_day(1.1, 0.25), 3),
        ("Tickets", "open", (30, 20, 10, 0), [14, 14, 12, 12, 10, 9, 9, 9, 9, 10, 11, 11, 11, 12, 13, 14], [], 30),
    ]
    return [
        (title, unit, _build_axis(ticks, most), _render_line(a, most), _render_line(b, most)) for title, unit, ticks, a, b, most in charts
    ]


def _compute_day(high: float, low: float) -> list[float]:
    """Return a daily load curve that begins in the evening and is lowest in the night."""
    return [
        low + (high - low) * (0.5 + 0.5 * sin(pi / 2 + 2 * pi * (x / 96))) ** 1.7 * (1 + 0.05 * sin(x * 12.9898) * sin(x * 4.1))
        for x in range(97)
    ]


def _render_line(values: list[float], most: float) -> str:
    return " ".join(f"{30 + 208 * place / (len(values) - 1):.1f},{8 + 78 * (1 - value / most):.1f}" for place, value in enumerate(values))


def _build_axis(ticks: tuple[int, ...], most: float) -> list[tuple[int, str]]:
    return [(tick, f"{8 + 78 * (1 - tick / most):.1f}") for tick in ticks]


def build_rollout() -> dict[str, object]:
    done = (
        RolloutLaneStep(StateKind.OK, "Sent", "21:13:40.12, 4.1 kB"),
        RolloutLaneStep(StateKind.OK, "Committed", "3 ms, read back equal"),
        RolloutLaneStep(StateKind.OK, "Probe", "IPv4 1.3 ms, IPv6 1.2 ms"),
    )
    lanes = [
        GatewayLane(
            "nat-2",
            "first, IPv6 primary",
            StateLabel(StateKind.OK, "Confirmed in 1.08 s"),
            (*done, RolloutLaneStep(StateKind.OK, "Confirmed", "21:13:41.20, new ssh session")),
        ),
        GatewayLane(
            "nat-1",
            "second, IPv4 primary",
            StateLabel(StateKind.MOVING, "Waits for confirmation"),
            (*done, RolloutLaneStep(StateKind.MOVING, "Confirmation", "2 of 3 attempts failed")),
        ),
    ]
    groups = [
        (
            "map forwards",
            "+3 −1",
            [
                ("+", "198.51.100.31 . tcp . 8080 : 10.12.51.4 . 80", "forward 2288, Wei Zhang"),
                ("+", "198.51.100.31 . udp . 34197 : 10.12.51.9 . 34197", "forward 2289, Noor Haddad"),
                ("+", "203.0.113.86 . tcp . 443 : 10.12.36.18 . 443", "forward 2290, Daniel Hoffmann"),
                ("−", "198.51.100.23 . tcp . 3074 : 10.12.40.9 . 3074", "forward 1650, ended 21:00 CET"),
            ],
        ),
        ("map snat", "+41", [("+", "10.12.51.4 : 198.51.100.31 . 40960-41983", "Wei Zhang, M-2745, C-301")]),
        (
            "chain listeners",
            "+2 rules",
            [
                ("+", "ip daddr 203.0.113.53 udp dport 53 notrack", "listener dns1, in raw"),
                ("+", "ip daddr 203.0.113.53 udp dport 53 accept", "listener dns1, both directions"),
            ],
        ),
    ]
    kinds = [
        ("NAT mappings", "+41", "0", "0", 2418, "41 new members, house C floors 3–5", "612 held back"),
        ("Port forwards", "+3", "−1", "0", 1912, "1 ended at 21:00 and cuts its 2 flows after confirmation", ""),
        ("Bans", "0", "0", "1", 18_406, "Comment of ban 377; hits and expiry stay", ""),
        ("Listeners", "+1", "0", "0", 4, "“dns1”: 2 rules, so confirmed over a new ssh session", ""),
    ]
    return {"title": "Rollout r4813", "lanes": lanes, "groups": groups, "kinds": kinds}


class SampleForwardForm(forms.Form):
    protocol = forms.ChoiceField(label="Protocol", choices=[("tcp", "TCP"), ("udp", "UDP")])
    port = forms.IntegerField(label="Public port", min_value=1024, max_value=65535, help_text="1024 to 65535")
    comment = forms.CharField(label="What for", required=False)
    ends = forms.DateField(label="Ends", required=False)
    loopback = forms.BooleanField(
        label="Also reachable from inside", required=False, help_text="Hairpin: members reach the public address too"
    )
    families = forms.MultipleChoiceField(label="Families", choices=[("4", "IPv4"), ("6", "IPv6")], widget=forms.CheckboxSelectMultiple)
    note = forms.CharField(label="Note to the desk", required=False, widget=forms.Textarea(attrs={"rows": 2}))


def build_style_guide() -> dict[str, object]:
    form = SampleForwardForm({"protocol": "tcp", "port": "443", "comment": "Minecraft with the floor"})
    if not form.is_valid():
        form.add_error("port", "TCP 443 is reserved for staff. Choose 1024 to 65535.")
    now = timezone.now()
    posts = [
        tuple(GatewaySymbol(f"nat-{place}", SymbolState(on)) for place, on in enumerate(case.split(), 1))
        for case in (
            "full full",
            "hollow full",
            "half full",
            "half hollow",
            "crossed full",
            "crossed crossed",
            "hollow hollow",
            "full full full",
            "full",
            "",
        )
    ]
    entries = [
        {"title": "Forward added", "detail": "UDP 51820 to .60", "who": "Mara Lindqvist", "at": now, "note": "in r4814"},
        {
            "title": "Forward switched off",
            "detail": "TCP 2222",
            "changes": [("on", "yes", "no")],
            "who": "herself",
            "at": now - timedelta(days=10),
            "note": "“login attempts”",
        },
        {
            "title": "Fee recorded",
            "changes": [("paid until", "30 Sep 2026", "31 Mar 2027")],
            "who": "Import “november.csv”, Jakob Wirth",
            "at": now - timedelta(days=400),
        },
    ]
    return {
        "title": "The parts of a page",
        "form": form,
        "row": SampleForwardForm(prefix="row", initial={"comment": "Minecraft with the floor"}),
        "pairs": posts,
        "kinds": list(StateKind),
        "entries": entries,
        "now": now,
        "page": Paginator(range(38), 20).page(1),
    }


def build_own_page() -> dict[str, object]:
    return {
        "title": "",
        "forwards": [
            ("WireGuard", "UDP 51820", "Heimserver", "", True),
            ("Nextcloud", "TCP 8443", "Heimserver, Port 443", "", True),
            ("Linux-Images", "TCP 51413", "Framework 13", "endet am 31.12.2026", True),
            ("ssh", "TCP 2222", "Heimserver", "aus seit 2. November", False),
        ],
        "down": _render_line(
            [1.0, 0.6, 0.4, 0.3, 0.2, 0.15, 0.1, 0.12, 0.15, 0.2, 0.4, 0.38, 0.7, 0.5, 0.9, 0.6, 0.85, 1.1, 1.1, 1.45, 1.55, 1.58], 2
        ),
        "up": _render_line(
            [
                0.15,
                0.08,
                0.06,
                0.05,
                0.03,
                0.02,
                0.02,
                0.02,
                0.03,
                0.04,
                0.05,
                0.06,
                0.07,
                0.06,
                0.08,
                0.07,
                0.09,
                0.12,
                0.1,
                0.25,
                0.2,
                0.2,
            ],
            2,
        ),
        "axis": _build_axis((2, 1, 0), 2),
    }


PAGES: dict[str, Callable[[], dict[str, object]]] = {
    "parts": build_style_guide,
    "members": build_sample_members,
    "dashboard": build_dashboard,
    "rollout": build_rollout,
    "own": build_own_page,
    "charts": sample.build_sample_charts,
    "why": dict,
}
