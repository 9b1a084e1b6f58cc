"""Stored sentences are recognised by their templates, and shown in the reader's language; whatever else a program said stays as it is."""

import re
from pathlib import Path

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from apps.lib.ui.stored_sentences import LONGEST, StoredSentence
from apps.network.gateway_sentences import (
    AgentSentence,
    LossSentence,
    ProbeSentence,
    ReachSentence,
    StepSentence,
    SystemSentence,
    translate_about_gateway,
    translate_rollout_error,
)

ROOT = Path(__file__).resolve().parents[2]
ALL: list[StoredSentence] = [*ProbeSentence, *LossSentence, *StepSentence, *ReachSentence, *AgentSentence, *SystemSentence]
VALUES = {
    "family": "6",
    "address": "2001:db8::9",
    "public": "198.51.100.7",
    "port": "443",
    "ports": "443, 8443",
    "ms": "4.2",
    "seconds": "5",
    "gateway": "nat-1",
    "group": "Nordhaus",
    "interface": "wan0",
    "path": "/run/probe",
    "up": "5",
    "down": "4",
    "back": "192.0.2.1",
    "leaked": "3",
    "counters": "2 spoofed, 1 refused",
    "what": "act_mirred",
    "where": "module",
    "found": "nothing",
    "wanted": "cake",
}
OTHERS = "words of another program"


def write(template: StoredSentence, **values: str) -> str:
    return template.write(**(dict.fromkeys(("why", "error", "text"), OTHERS) | VALUES | values))


@pytest.mark.parametrize("template", ALL, ids=lambda template: f"{type(template).__name__}.{template.name}")
def test_each_template_is_found_again_with_its_values_and_speaks_german(template: StoredSentence) -> None:
    said = write(template)
    with translation.override("en"):
        assert translate_about_gateway(said) == said
    with translation.override("de"):
        german = translate_about_gateway(said)
        assert german == translation.gettext(template.value) % (dict.fromkeys(("why", "error", "text"), OTHERS) | VALUES | {"ms": "4,2"})
    assert german != said


def test_agents_still_say_what_is_recognised() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "gateway").rglob("*.py"))
    pieces = {template: re.split(r"%\(\w+\)s", template) for template in AgentSentence}
    assert [str(template) for template, parts in pieces.items() if not all(part in source for part in parts)] == []


def test_a_reason_within_a_sentence_is_translated_too() -> None:
    why = f"{AgentSentence.TARGET_SILENT.write(ms=1000)}. {write(LossSentence.NONE_BACK)}"
    with translation.override("de"):
        said = translate_about_gateway(write(ProbeSentence.NOT_REACHED, why=why))
    assert said == (
        "IPv6: 2001:db8::9, Port 443, ist durch nat-1 nicht erreichbar: keine Antwort innerhalb von 1000 ms."
        " Pakete hinaus: 5, zurück: keine. Führt die Route zu 192.0.2.1 nach nat-1, und antwortet das Ziel anderen?"
    )


def test_sentences_of_both_families_are_translated_one_after_the_other() -> None:
    why = f"{AgentSentence.TARGET_REFUSES.write()}. {write(LossSentence.NOT_FORWARDED)}"
    said = f"{write(ProbeSentence.NOT_REACHED, family='4', why=why)} {write(ProbeSentence.NOT_REACHED, why=why)}"
    with translation.override("de"):
        german = translate_about_gateway(said)
    assert re.findall(r"IPv[46]: 2001:db8::9, Port 443, ist durch nat-1 nicht erreichbar: abgelehnt\. Kein Paket", german) == [
        f"IPv{family}: 2001:db8::9, Port 443, ist durch nat-1 nicht erreichbar: abgelehnt. Kein Paket" for family in (4, 6)
    ]
    assert "route" not in german


def test_what_an_agent_said_stays_within_a_sentence_of_the_portal() -> None:
    said = StepSentence.WENT_BACK.write(why=StepSentence.NOT_REACHED.write(), text="the last confirmed ruleset runs, 28 elements")
    with translation.override("de"):
        assert translate_about_gateway(said) == (
            "Nach der Änderung war es nicht zu erreichen. Es ist zurückgegangen: the last confirmed ruleset runs, 28 elements."
        )


def test_the_reason_of_a_rollout_names_its_gateways_in_both_languages() -> None:
    said = f"nat-1: {StepSentence.NOT_REACHED}\nnat-2: {OTHERS}"
    assert translate_rollout_error(said) == said
    with translation.override("de"):
        assert translate_rollout_error(said) == f"nat-1: Nach der Änderung war es nicht zu erreichen.\nnat-2: {OTHERS}"
        assert translate_rollout_error(StepSentence.STOPPED.write()) == "Der Rollout wurde abgebrochen."


@given(st.text(alphabet="IPv46: .?%()s-\nabc", max_size=200))
def test_any_other_text_stays_as_it_is(text: str) -> None:
    with translation.override("en"):
        assert translate_about_gateway(text) == text


@given(st.lists(st.sampled_from(ALL), max_size=6))
def test_any_row_of_sentences_is_the_same_in_english(templates: list[StoredSentence]) -> None:
    said = " ".join(map(write, templates))
    with translation.override("en"):
        assert translate_about_gateway(said) == said


@pytest.mark.parametrize("piece", ["IPv4: a port b cannot be reached through c: ", "a. ", "Packets out: ", " It went back: ", ": ", "% "])
def test_no_text_of_a_gateway_holds_a_page_up(piece: str) -> None:
    """A pattern that tries again and again would not end; what nests deeper than Python's stack would raise."""
    text = (piece * LONGEST)[:LONGEST]
    with translation.override("de"):
        assert len(translate_about_gateway(text)) > LONGEST / 2
        assert translate_about_gateway(text + "x") == text + "x"
