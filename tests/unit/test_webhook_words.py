"""Reasons for failed webhook deliveries in words, in both languages."""

import pytest
from django.utils.translation import override

from apps.lib.web.guarded_http import NoAnswer, NoAnswerReason
from apps.webhooks.error_texts import BROKEN, NO_RIGHT, explain_error

STORED = [*(str(NoAnswer(fault, "hooks.example.org: 100 %")) for fault in NoAnswerReason), f"{BROKEN}: hooks.example.org: 100 %", NO_RIGHT]


@pytest.mark.parametrize("fault", STORED)
def test_every_fault_is_a_sentence_in_both_languages(fault: str) -> None:
    with override("en"):
        english = explain_error(fault)
    with override("de"):
        german = explain_error(fault)
    assert english != german and fault not in (english, german)
    assert fault == NO_RIGHT or ("hooks.example.org: 100 %" in english and "hooks.example.org: 100 %" in german)


def test_unknown_delivery_errors_are_shown_unchanged() -> None:
    assert (explain_error(""), explain_error("something else: 1")) == ("", "something else: 1")
