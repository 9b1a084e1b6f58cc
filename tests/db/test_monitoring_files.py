"""Alert rules and dashboard in docs/monitoring: they use metrics that exist, and promtool accepts them where it is installed."""

import json
import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from apps.metrics.exposition import render_metrics

FOLDER = Path(__file__).parents[2] / "docs" / "monitoring"
PROMTOOL = shutil.which("promtool")


def read_panels() -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = json.loads((FOLDER / "grafana-dashboard.json").read_text())["panels"]
    return panels


@pytest.mark.parametrize("filename", ["alerts.yml", "alerts_test.yml", "grafana-dashboard.json"])
def test_every_metric_that_is_used_exists(filename: str, db: None) -> None:
    families = text_string_to_metric_families(render_metrics(timezone.now()).decode())
    exposed = {f"{each.name}_total" if each.type == "counter" else each.name for each in families}
    used = set(re.findall(r"netzwart_\w+", (FOLDER / filename).read_text()))
    assert used and used <= exposed


def test_no_panel_of_the_dashboard_covers_another() -> None:
    places = [panel["gridPos"] for panel in read_panels()]
    assert len({panel["id"] for panel in read_panels()}) == len(places)
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
@pytest.mark.parametrize("command", [["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]])
def test_promtool_accepts_the_alert_rules(command: list[str]) -> None:
    done = subprocess.run([str(PROMTOOL), *command], cwd=FOLDER, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
