"""E-mail addresses are equal if they differ only in the case of ASCII letters: in every column, every comparison, and at sign-in."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.conf import settings as configured
from django.core.mail import EmailMessage
from django.db import connection
from django.db.models import EmailField, Model
from django.test import Client

from apps.accounts import invitations
from apps.accounts.address_owners import list_accounts_of_address
from apps.accounts.models import User
from apps.lib.email_address import is_same_address, lower_ascii
from apps.mail import retention_sweep
from apps.mail.models import Message, SwitchedOff
from apps.mail.services import switch_notice_off, switch_notice_on
from apps.mail.unsubscribing import is_notice_off, list_unsubscribed_addresses
from apps.members.models import Member
from apps.members.selectors import list_by_email
from tests import factories

REAL = "jonas@kreislindenhof.example"
ALIKE = ("jonas@kreıslindenhof.example", "jonas@\N{KELVIN SIGN}reislindenhof.example", "jonaſ@kreislindenhof.example")
COLUMNS: list[tuple[type[Model], str]] = sorted(
    ((model, field.name) for model in apps.get_models() for field in model._meta.concrete_fields if isinstance(field, EmailField)),
    key=lambda each: (each[0]._meta.label, each[1]),
)
COMPARES = re.compile(r"(?:e?mail|address|sender|reader|recipient)\w*(?:\)|\])?\.(?:lower|upper|casefold)\(")


@pytest.mark.parametrize(("model", "name"), COLUMNS, ids=lambda each: each if isinstance(each, str) else each._meta.label)
def test_every_column_of_addresses_is_compared_by_ascii_letters(model: type[Model], name: str) -> None:
    for lookup in (f"{name}__iexact", f"{name}__in", name):
        value = [REAL] if lookup.endswith("__in") else REAL
        sql = str(model._default_manager.filter(**{lookup: value}).query)
        assert "UPPER" not in sql and ("LOWER" not in sql or sql.count('COLLATE "C"') == sql.count("LOWER")), sql


@pytest.mark.django_db
def test_no_index_or_constraint_takes_two_addresses_for_one() -> None:
    ours = {(model._meta.db_table, name) for model, name in COLUMNS} | {("tickets_message", "sender"), ("inbound_arrival", "sender")}
    with connection.cursor() as cursor:
        cursor.execute(r"SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexdef ~* '(lower|upper)\('")
        found = [(table, text) for table, text in cursor.fetchall() if any(table == of and f"{name}" in text for of, name in ours)]
    unlike = [text for _table, text in found if 'COLLATE "C"' not in text and "username" not in text and "(name)" not in text]
    assert [text for text in unlike if "UNIQUE" in text or "account_emailaddress" not in text] == []
    assert len(found) > len(unlike)


def test_no_code_makes_addresses_small_by_the_rules_of_unicode() -> None:
    wrong = [
        f"{path.relative_to(configured.ROOT)}: {line.strip()}"
        for path in sorted(Path(configured.ROOT, "apps").rglob("*.py"))
        for line in path.read_text().splitlines()
        if COMPARES.search(line) and "lower_ascii" not in line
    ]
    assert wrong == []


@pytest.mark.parametrize("other", ALIKE)
def test_letters_that_only_look_alike_are_others(other: str) -> None:
    assert not is_same_address(REAL, other) and not is_same_address("", "")
    assert is_same_address(REAL.upper(), REAL) and lower_ascii("ÄK") == "Äk"


@pytest.mark.django_db
@pytest.mark.parametrize("other", ALIKE)
def test_who_has_an_address_that_only_looks_alike_is_somebody_else(other: str) -> None:
    member = factories.member(email=REAL)
    assert (list_by_email(REAL.upper()), list_by_email(other)) == ([member], [])
    switch_notice_off(address=REAL, notice="quota")
    assert (
        is_notice_off(REAL.upper(), "quota")
        and not is_notice_off(other, "quota")
        and list_unsubscribed_addresses([other], "quota") == set()
    )
    switch_notice_off(address=other, notice="quota")
    assert SwitchedOff.objects.count() == 2
    switch_notice_on(address=other, notice="quota")
    assert is_notice_off(REAL, "quota")
    retention_sweep.forget_mails(member, [other], instead="nobody@erased.invalid")
    assert is_notice_off(REAL, "quota")


@pytest.mark.django_db
@pytest.mark.parametrize("other", ALIKE)
def test_nobody_signs_in_resets_a_password_or_is_invited_by_an_address_that_only_looks_alike(other: str) -> None:
    user = User.objects.create_user("jonas", REAL, "a long passphrase")
    assert not invitations.has_account(other) and invitations.has_account(REAL.upper())
    client = Client()
    client.post("/account/login/", {"login": other, "password": "a long passphrase"})
    assert "_auth_user_id" not in client.session
    client.post("/account/password/reset/", {"email": other})
    assert set(Message.objects.values_list("to", flat=True)) <= {REAL} and Member.objects.count() == 0
    client.post("/account/login/", {"login": REAL.upper(), "password": "a long passphrase"})
    assert client.session["_auth_user_id"] == str(user.pk)


@pytest.mark.django_db
def test_an_address_of_an_account_is_stored_in_small_letters() -> None:
    for make in (User.objects.create_user, User.objects.create_superuser):
        assert make(make.__name__, " Jonas@\N{KELVIN SIGN}REIS.example ").email == "jonas@\N{KELVIN SIGN}reis.example"
    assert User.objects.create_user("nobody").email == ""


@pytest.mark.django_db
def test_who_was_made_by_a_command_keeps_the_address_while_a_change_of_it_waits(mailoutbox: list[EmailMessage]) -> None:
    user = User.objects.create_superuser("mara", REAL, "a long passphrase")
    client = Client()
    client.force_login(user)
    client.post("/account/reauthenticate/", {"password": "a long passphrase"})
    client.post("/account/email/", {"email": "new@lindenhof.example", "action_add": ""})
    client.post("/account/email/", {"email": REAL, "action_remove": ""})
    user.refresh_from_db()
    assert user.email == REAL and EmailAddress.objects.filter(email=REAL, verified=True, primary=True).exists()
    mailoutbox.clear()
    Client().post("/account/password/reset/", {"email": REAL})
    assert [sent.to for sent in mailoutbox] == [[REAL]]


@pytest.mark.django_db
def test_addresses_of_accounts_that_are_there_become_small_unless_another_account_confirmed_the_same() -> None:
    for name, stored in {"ines": "Ines@X.example", "jonas": "Jonas@X.example", "other": "jonas@x.example"}.items():
        user = User.objects.create_user(name)
        User.objects.filter(pk=user.pk).update(email=stored)
        EmailAddress.objects.create(user=user, email=stored, verified=True, primary=True)
    EmailAddress.objects.create(user=user, email="INES@X.example")
    with connection.cursor() as cursor:
        for statement in import_module("migrations.accounts.0002_addresses_in_small_letters").STATEMENTS:
            cursor.execute(statement)
    small = dict(User.objects.values_list("username", "email"))
    assert small == {"ines": "ines@x.example", "jonas": "jonas@x.example", "other": "jonas@x.example"}
    rows = EmailAddress.objects.order_by("pk").values_list("user__username", "email")
    assert list(rows) == [
        ("ines", "ines@x.example"), ("jonas", "Jonas@X.example"), ("other", "jonas@x.example"), ("other", "ines@x.example"),
    ]  # fmt: skip
    assert [each.username for each in list_accounts_of_address("Jonas@X.example")] == ["other"]
