"""One core does nearly all the work of the network: the average looks fine, and packets wait."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.gateways.health.interval import CoreLoad
from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats
from firewall.health import KernelCounter, LinkQueues

WARN, BAD = 0.7, 0.9  # of the core's time in soft interrupts
LOOPING: Final = 20.0  # packets a second whose hop limit ended
UNEVEN: Final = 0.6  # of a card's packets in one of its queues
FEW: Final = 100.0  # packets a second, of which a share says nothing


def _find(situation: HealthSituation) -> Evidence | None:
    core, interval = situation.interval.busiest, situation.interval
    if core is None or core.softirq < WARN:
        return None
    others = [each.softirq for each in interval.cores if each.core != core.core]
    values = {
        "core": float(core.core),
        "share": core.softirq,
        "others": sum(others) / len(others) if others else 0.0,
        "alone": float(bool(others)),
        "loops": interval.get_rate(KernelCounter.TIME_EXCEEDED4, KernelCounter.TIME_EXCEEDED6),
    }
    card = find_card_with_one_core(situation, core) if others else None
    of_card: dict[str, float | str] = (
        {"link": card.name, "queues": float(card.receiving), "mask": format_core_mask(len(interval.cores))}
        if card
        else _find_uneven_queue(situation)
    )
    return Evidence(Kind.BAD if core.softirq >= BAD else Kind.WARN, values | of_card)


def _find_uneven_queue(situation: HealthSituation) -> dict[str, float | str]:
    """Return the card and the queue of it that gets most of its packets; nothing if they are spread, or not counted by queue."""
    for name in (situation.lan, situation.wan):
        loads = situation.interval.queue_loads.get(name, ())
        total, fullest = sum(each.packets for each in loads), max(loads, key=lambda each: each.packets, default=None)
        if fullest and len(loads) > 1 and total >= FEW and fullest.packets >= UNEVEN * total:
            return {"card": name, "queue": float(fullest.queue), "queue_share": fullest.packets / total}
    return {}


def find_card_with_one_core(situation: HealthSituation, core: CoreLoad) -> LinkQueues | None:
    """Return the card whose received packets all go to this core; None if there is none, or its agent does not tell."""
    cards = [situation.interval.queues[name] for name in (situation.lan, situation.wan) if name in situation.interval.queues]
    return next((each for each in cards if _has_one_core(each, core.core)), None)


def _has_one_core(card: LinkQueues, core: int) -> bool:
    """True if RPS sends all packets to this core or, without it, the card's interrupts do. One queue has one core, whichever that is."""
    return set(card.steered or card.interrupts) == {core} or (not (card.steered or card.interrupts) and card.receiving == 1)


def format_core_mask(cores: int) -> str:
    """Return the bitmap of all cores as the kernel takes it: hexadecimal, 32 cores each, with commas between them."""
    digits = f"{(1 << cores) - 1:x}"
    first = len(digits) % 8
    return ",".join([*([digits[:first]] if first else []), *(digits[at : at + 8] for at in range(first, len(digits), 8))])


def _describe(values: EvidenceValues) -> str:
    given = {
        "core": int(values["core"]),
        "share": formats.format_percent(100 * float(values["share"]), 0),
        "others": formats.format_percent(100 * float(values["others"]), 0),
    }
    text = (
        _("Core %(core)d spends %(share)s of its time on packets, the others %(others)s on average.")
        if values["alone"]
        else _("Its only core spends %(share)s of its time on packets.")
    )
    return f"{text % given} {_describe_cause(values)}"


def _describe_cause(values: EvidenceValues) -> str:
    if float(values["loops"]) > LOOPING:
        return _("Packets run in circles, too (see the routing loop).")
    if "card" in values:
        share = formats.format_percent(100 * float(values["queue_share"]), 0)
        given = {"queue": int(values["queue"]), "card": values["card"], "share": share}
        return _("Queue %(queue)d of %(card)s receives %(share)s of its packets: one large flow, a loop or an attack.") % given
    if "link" not in values:
        return _("One large flow, a loop or an attack keeps one queue of the network card busy.")
    queues = int(values["queues"])
    words = ngettext(
        "All packets that %(link)s receives go to that core (%(queues)s queue). “echo %(mask)s” into each "
        "/sys/class/net/%(link)s/queues/rx-*/rps_cpus spreads them over all cores.",
        "All packets that %(link)s receives go to that core (%(queues)s queues). “echo %(mask)s” into each "
        "/sys/class/net/%(link)s/queues/rx-*/rps_cpus spreads them over all cores.",
        queues,
    )
    return words % {"link": values["link"], "queues": formats.format_number(queues), "mask": values["mask"]}


RULE: Final = HealthRule(
    "busy_core",
    gettext_lazy("Busy core"),
    gettext_lazy("One core of %(gateway)s does most of the work"),
    _find,
    _describe,
    gettext_lazy("Spread the queues of the network card over all cores (RSS or RPS), and look for the largest flow."),
    measure="busiest_core",
)
