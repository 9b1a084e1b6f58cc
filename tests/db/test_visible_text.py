"""Text fields refuse invisible characters. The tests find the fields of every form and of every serializer of the API themselves."""

from collections.abc import Iterator
from typing import Any

import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.test import Client
from rest_framework import serializers

from apps.accounts import tokens
from apps.lib.api.unknown_fields import LINES, StrictSerializer
from apps.lib.visible_text import refuse_invisible_characters
from portal.api import router
from tests import factories
from tests.api_responses import wrong

UNSEEN = ("a\x1bb", "a\x00b", "a\u202eb", "\u200b", "a\u2067b", "\u200d\u2060", "a\x9fb", "\ufeff")
IN_LINES = ("a\nb", "a\tb", "a\u2028b")
ONLY_ANSWERS = {"CoveringSerializer"}
"""Serializers that read no request, and so need not be strict."""
SEEN = ("Müller", "Şelin Kaya", "日本語", "👩‍👩‍👧", "محمد", "a‌b")


def subclasses(of: type[Any]) -> Iterator[type[Any]]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)


def own(kind: type[Any]) -> bool:
    return kind.__module__.startswith("apps.")


@pytest.mark.parametrize("text", UNSEEN)
def test_no_form_takes_it(db: None, client: Client, text: str) -> None:
    client.get("/api/docs/")  # loads all pages and so their forms
    seen = 0
    for form in filter(own, set(subclasses(forms.BaseForm))):
        for name, field in form.base_fields.items():
            if isinstance(field, forms.CharField):
                with pytest.raises((ValidationError, ValueError)):
                    assert not field.clean(text), (form, name)
                    raise ValueError("it was left out")
                seen += 1
    assert seen > 60


@pytest.mark.parametrize("text", IN_LINES)
def test_a_form_takes_lines_where_it_has_several(text: str) -> None:
    with pytest.raises(ValidationError):
        forms.CharField().clean(text)
    if text != "a\u2028b":
        assert forms.CharField(widget=forms.Textarea).clean(text) == text


@pytest.mark.parametrize("text", (*UNSEEN, *IN_LINES))
def test_the_api_does_not_take_it(db: None, text: str) -> None:
    registered: list[tuple[str, Any, str]] = router.registry
    every = {view.serializer_class for _prefix, view, _basename in registered} | set(filter(own, subclasses(StrictSerializer)))
    whole = [each for each in every if hasattr(each, "Meta") or not issubclass(each, serializers.ModelSerializer)]
    seen = 0
    for serializer in whole:
        for name, field in serializer().fields.items():
            each: Any = getattr(field, "child", field)
            if not field.read_only and isinstance(each, serializers.CharField) and not (text in IN_LINES[:2] and each.style == LINES):
                with pytest.raises((serializers.ValidationError, ValidationError)):
                    pytest.fail(f"{serializer.__name__}.{name}: {each.run_validation(text)!r}")
                seen += 1
    assert seen > 30


def test_every_serializer_of_a_request_is_strict(db: None) -> None:
    assert router.registry  # loads all serializers
    plain = {each.__name__ for each in filter(own, subclasses(serializers.BaseSerializer)) if not issubclass(each, StrictSerializer)}
    assert plain == ONLY_ANSWERS


@pytest.mark.parametrize("text", SEEN)
def test_what_people_are_called_is_taken(text: str) -> None:
    refuse_invisible_characters(text, lines=False)


def test_a_members_name_is_refused_by_its_field(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=network.admin, name="s")
    api = Client(headers={"authorization": f"Bearer {key}"})
    body = {"name": "Jonas\u202eGeheim", "tariff": network.residents["m1"].member.tariff_id, "since": "2026-11-22", "note": "two\nlines"}
    refused = api.post("/api/members/members/", body, content_type="application/json")
    assert wrong(refused) == {"name": ["This contains a character that changes the direction of text (U+202E). Leave it out."]}
    assert api.post("/api/members/members/", body | {"name": "Jonas"}, content_type="application/json").json()["note"] == "two\nlines"
    assert wrong(api.get("/api/members/members/?limit=1000000000")) == {"limit": ["A page has 1 to 1000 rows."]}
    assert wrong(api.get("/api/members/members/?limit=" + "9" * 40)) == {"limit": ["A page has 1 to 1000 rows."]}
    assert api.get("/api/members/members/?offset=" + "9" * 40).json()["results"] == []
