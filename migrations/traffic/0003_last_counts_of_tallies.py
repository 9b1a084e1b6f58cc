"""What tallies and bans remember of the counters becomes the baseline of the next reading: nothing is counted twice, nothing lost."""

from ipaddress import ip_network
from struct import pack
from typing import Any

from django.db import migrations

FAMILIES = {"both": "bans", "in": "bansin", "out": "bansout"}
type Rows = dict[tuple[int, str], dict[bytes, tuple[int, int]]]


def _keep_counters(apps: Any, _schema_editor: Any) -> None:
    found: Rows = {}
    for tally in apps.get_model("traffic", "Tally").objects.select_related("holding").order_by("last").iterator():
        for way in ("up", "down"):
            counts = getattr(tally, f"counter_{way}_packets"), getattr(tally, f"counter_{way}_octets")
            _note(found, tally.gateway_id, way, tally.holding.prefix, counts)
    for hits in apps.get_model("bans", "BanHits").objects.iterator():
        _note(found, hits.gateway_id, FAMILIES[hits.direction], hits.prefix, (hits.counter_packets, hits.counter_octets))
    last_counts, collected = apps.get_model("traffic", "LastCounts"), apps.get_model("traffic", "Collected")
    collected.objects.bulk_create(collected(gateway_id=gateway) for gateway in {gateway for gateway, _ in found})
    last_counts.objects.bulk_create(last_counts(gateway_id=gateway, set=name, **_columns(rows)) for (gateway, name), rows in found.items())


def _note(found: Rows, gateway: int, start: str, prefix: Any, counts: tuple[int, int]) -> None:
    """Of several holders of one address the last one's tally knows what the counter stood at."""
    network = ip_network(prefix)
    whole = network.version == 4 and start in ("up", "down")
    name = f"{start}{network.version}" + ("" if whole else f"_{network.prefixlen}")
    found.setdefault((gateway, name), {})[network.network_address.packed] = counts


def _columns(rows: dict[bytes, tuple[int, int]]) -> dict[str, Any]:
    numbers = f">{len(rows)}Q"
    return {
        "elements": len(rows),
        "keys": b"".join(key for key in rows),
        "packets": pack(numbers, *(packets for packets, _ in rows.values())),
        "octets": pack(numbers, *(octets for _, octets in rows.values())),
        "owners": b"",
    }


class Migration(migrations.Migration):
    dependencies = [("traffic", "0002_usage_by_time"), ("bans", "0007_listeners")]

    operations = [
        migrations.RunPython(_keep_counters, migrations.RunPython.noop),
        *(migrations.RemoveField("tally", f"counter_{way}_{what}") for way in ("up", "down") for what in ("octets", "packets")),
    ]
