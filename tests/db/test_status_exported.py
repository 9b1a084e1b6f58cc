"""The status page as files for a server elsewhere, and the emergency sheet for administrators."""

import json
import re
import stat
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django.utils.translation import override
from icalendar import Calendar

from apps.lib.ui import formats
from apps.network.models import Gateway
from apps.status.availability.bookkeeping import note_levels
from apps.status.availability.models import ServiceLevel
from apps.status.incidents import services
from apps.status.incidents.models import Incident, IncidentUpdate
from apps.status.network_services import NetworkService
from apps.status.page.status_view import build_status_view
from apps.status.publication.directory import write_files
from apps.status.publication.emergency_sheet import build_emergency_sheet
from apps.status.publication.static_page import build_static_page
from tests import factories
from tests.db.rollout_rows import roll_out
from tests.db.test_incidents import HOUR, announce, describe, say


def export(directory: Path, **options: object) -> str:
    said = StringIO()
    call_command("export_status", str(directory), stdout=said, **options)
    return said.getvalue()


def read_visible_text(page: bytes) -> str:
    """Return a page without its tags, so without the full times in their titles, which a phone does not show."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page.decode()))


def test_the_files_say_the_same_in_both_languages_and_load_nothing_from_the_portal(network: factories.Network, tmp_path: Path) -> None:
    services.open_incident(facts=describe(title_de="Langsam"), first=say(text_de="Wir suchen."), by=network.admin)
    services.open_incident(facts=describe(public=False, title_en="Secret"), first=say(), by=network.admin)
    announce(network.admin)
    public = tmp_path / "status"
    assert "10 of 10 files written" in export(public, url="https://status.lindenhof.example")
    english, german = ((public / name).read_text() for name in ("index.html", "index.de.html"))
    assert "Slow in houses A to F" in english and "We see it, too" in english and 'href="index.de.html"' in english
    assert "Langsam" in german and "Wir suchen." in german and 'href="index.html"' in german
    assert "outside of our network" in english and "außerhalb unseres Netzes" in german
    for page in (english, german):
        assert "Secret" not in page and "hx-get" not in page and "<script" not in page
        loaded = re.findall(r'<link rel="(?:stylesheet|alternate)"[^>]* href="([^"]*)"', page)
        assert len(loaded) == 3 and all((public / name).is_file() for name in loaded)
    feed = ElementTree.fromstring((public / "atom.xml").read_bytes())  # noqa: S314 - our own document
    assert "https://status.lindenhof.example/index.html#incident-" in ElementTree.tostring(feed, encoding="unicode")
    assert len(Calendar.from_ical((public / "calendar.ics").read_bytes()).walk("VEVENT")) == 2
    assert json.loads((public / "status.de.json").read_text())["incidents"][0]["name"] == "Langsam"


def test_a_stored_character_that_xml_does_not_have_stops_neither_the_feed_nor_the_files(network: factories.Network, tmp_path: Path) -> None:
    slow = services.open_incident(facts=describe(), first=say(), by=network.admin)
    Incident.objects.filter(pk=slow.pk).update(title_en="Slow\x0c in A")
    IncidentUpdate.objects.filter(incident=slow).update(text_en="We see\x1b it\ufffe, \U0001f41b.")
    assert "10 of 10 files written" in export(tmp_path)
    for feed in ((tmp_path / "atom.xml").read_bytes(), Client().get("/status/atom.xml").content):
        words = " ".join(ElementTree.fromstring(feed).itertext())  # noqa: S314 - our own document
        assert "Slow\ufffd in A" in words and "We see\ufffd it\ufffd, \U0001f41b." in words


def test_each_time_in_the_files_has_its_day_because_they_are_read_on_a_later_one(network: factories.Network) -> None:
    now = timezone.now()
    first = say(text_de="Wir suchen.", next_update=now + HOUR)
    slow = services.open_incident(facts=describe(title_de="Langsam", began=now), first=first, by=network.admin)
    work = announce(network.admin, title_de="Neuer Kernel")
    files = build_static_page("", now)
    told, promised = IncidentUpdate.objects.get(incident=slow).at, Incident.objects.get(pk=slow.pk).next_update
    assert promised
    for code, name in (("en", "index.html"), ("de", "index.de.html")):
        page = read_visible_text(files[name])
        with override(code):
            moments = [formats.format_moment(at, now, with_seconds=False, with_day=True) for at in (now, told, promised, work.began)]
            assert formats.format_full_time(now) in page and not [moment for moment in moments if moment not in page]


def test_what_was_noticed_has_its_day_in_the_files_and_stays_calm_on_the_portal(network: factories.Network) -> None:
    now = timezone.now()
    note_levels({NetworkService.IPV6: ServiceLevel.DOWN}, now)
    page = read_visible_text(build_static_page("", now)["index.html"])
    long, short = (formats.format_moment(now, now, with_seconds=False, with_day=with_day) for with_day in (True, False))
    assert f"Internet IPv6: not reachable since {long}." in page
    assert build_status_view(now).summary == f"Internet IPv6: not reachable since {short}."


def test_the_emergency_sheet_says_on_which_day_it_was_written_and_since_when_what_was_open(network: factories.Network) -> None:
    now = timezone.now()
    slow = services.open_incident(facts=describe(began=now), first=say(), by=network.admin)
    sheet = read_visible_text(build_emergency_sheet(now)["emergency.html"])
    assert f"Written {formats.format_full_time(now)}." in sheet
    assert f"{formats.format_full_time(slow.began)}: Slow in houses A to F" in sheet


def test_a_second_export_writes_only_what_changed_and_leaves_no_half_file(network: factories.Network, tmp_path: Path) -> None:
    export(tmp_path)
    (tmp_path / "robots.txt").write_text("of the other server")
    changed = re.search(r"(\d+) of 10", export(tmp_path))
    assert changed and int(changed[1]) < 10  # style sheets are the same
    assert (tmp_path / "robots.txt").exists() and not list(tmp_path.glob(".*"))
    assert stat.S_IMODE((tmp_path / "index.html").stat().st_mode) == 0o644


def test_a_disk_that_is_full_leaves_the_old_file(tmp_path: Path) -> None:
    write_files(tmp_path, {"index.html": b"old"})
    (tmp_path / "index.de.html").mkdir()
    with pytest.raises(OSError, match=r"index\.de\.html"):
        write_files(tmp_path, {"index.html": b"old", "index.de.html": b"new"})
    assert (tmp_path / "index.html").read_bytes() == b"old" and not list(tmp_path.glob(".index*"))


def test_the_emergency_sheet_is_private_and_holds_what_is_needed_without_the_portal(network: factories.Network, tmp_path: Path) -> None:
    network.admin.email = "mara@lindenhof.example"
    network.admin.save()
    private = tmp_path / "private"
    export(tmp_path / "status", emergency=private)
    sheet = (private / "emergency.html").read_text()
    assert "mara@lindenhof.example" in sheet and "nat-1" in sheet and str(network.private.prefix) in sheet
    rules = (private / "nat-1.nft").read_text()
    assert "table inet netzwart" in rules and "nft -f nat-1.nft" in sheet
    assert (private / "runbook.md").read_text().startswith("# Runbook")
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in private.iterdir()} == {0o600}


def test_the_emergency_sheet_names_the_port_at_which_a_gateway_lets_people_in_now(network: factories.Network) -> None:
    roll_out(network)
    Gateway.objects.filter(name="nat-1").update(address="172.31.0.11", management_port=2222)
    assert b"ssh -p 22 root@172.31.0.11" in build_emergency_sheet(timezone.now())["emergency.html"]


@pytest.mark.django_db
def test_the_emergency_sheet_of_a_portal_without_a_network_says_what_there_is_not() -> None:
    sheet = read_visible_text(build_emergency_sheet(timezone.now())["emergency.html"])
    assert "There is no gateway yet." in sheet and "No pool yet" in sheet


@pytest.mark.parametrize("url", ["status.example.org", "ftp://status.example.org/", "https://"])
def test_an_address_that_is_none_is_said(network: factories.Network, tmp_path: Path, url: str) -> None:
    with pytest.raises(CommandError, match="no address of a web page"):
        export(tmp_path / "status", url=url)
    assert not (tmp_path / "status").exists()


def test_the_emergency_sheet_is_never_inside_what_is_published(network: factories.Network, tmp_path: Path) -> None:
    for inside in (tmp_path, tmp_path / "private"):
        with pytest.raises(CommandError, match="which is published"):
            export(tmp_path, emergency=inside)
    assert not list(tmp_path.iterdir())


def test_a_directory_that_cannot_be_written_is_named(network: factories.Network, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="file"):
        export(tmp_path / "file")
