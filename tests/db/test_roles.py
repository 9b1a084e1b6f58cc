"""Changes of roles: accounts cannot raise themselves, a new approver needs a second person, and one network administrator stays."""

from threading import Barrier, Thread

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from apps.accounts import invitations, role_changes, tokens
from apps.accounts.models import RoleChange, User
from apps.lib.errors import Conflict, Problem
from tests import factories
from tests.db.page_client import list_messages, signed_in, text
from tests.db.test_signing_in import PASSWORD

pytestmark = pytest.mark.django_db
ADMIN, BOTH = ["network_admin"], ["network_admin", "approver"]


def request_roles(user: User, *roles: str, by: User, reason: str = "new in the team") -> RoleChange:
    user.refresh_from_db()
    return role_changes.submit_role_change(user=user, before=user.roles, after=roles, reason=reason, by=by)


def roles_of(user: User) -> list[str]:
    return User.objects.get(pk=user.pk).roles


def test_a_network_admin_gives_and_takes_roles_at_once_and_says_why() -> None:
    mara, ines = factories.user(), factories.user("ines", roles=["member"])
    change = request_roles(ines, "member", "helpdesk", by=mara, reason="  answers tickets ")
    assert (change.state, change.reason, change.added_roles, change.removed_roles) == ("done", "answers tickets", ["helpdesk"], [])
    assert roles_of(ines) == ["member", "helpdesk"]
    assert request_roles(ines, "member", by=mara).removed_roles == ["helpdesk"]
    with pytest.raises(Problem, match="Enter a reason"):
        request_roles(ines, "auditor", by=mara, reason=" ")
    with pytest.raises(Problem, match="already has exactly these roles"):
        request_roles(ines, "member", by=mara)
    with pytest.raises(Conflict):
        role_changes.submit_role_change(user=ines, before=["helpdesk"], after=[], reason="stale", by=mara)


def test_accounts_cannot_raise_their_own_roles_or_grant_roles_that_they_lack() -> None:
    mara, helper, ines = factories.user(roles=ADMIN), factories.user("helper", roles=["helpdesk"]), factories.user("ines", roles=["member"])
    factories.user("agrees", roles=["approver"])
    with pytest.raises(Problem, match="You cannot change your own roles"):
        request_roles(mara, *BOTH, by=mara)
    with pytest.raises(IntegrityError, match="rolechange_not_of_oneself"), transaction.atomic():
        RoleChange.objects.create(user=mara, by=mara, new=BOTH, reason="me", state="done")
    with pytest.raises(Problem, match="approver"):
        request_roles(ines, "approver", by=mara)
    with pytest.raises(Problem, match="Only a network admin"):
        request_roles(ines, "helpdesk", by=helper)
    assert role_changes.list_grantable_roles(helper) == frozenset()
    assert {role.value for role in role_changes.list_grantable_roles(mara)} == {
        "member",
        "helpdesk",
        "network_admin",
        "auditor",
        "automation",
    }


def test_an_approver_is_made_or_unmade_only_when_another_one_agrees() -> None:
    mara, jakob, puppet = factories.user(roles=BOTH), factories.user("jakob", roles=BOTH), factories.user("puppet", roles=["member"])
    change = request_roles(puppet, "approver", by=mara)
    assert (change.state, roles_of(puppet)) == ("waiting", ["member"])
    with pytest.raises(Problem, match=r"You requested this yourself\. Another person has to approve it: Jakob Lindqvist"):
        role_changes.approve_role_change(change, by=mara)
    with pytest.raises(IntegrityError, match="rolechange_agreed_by_another"), transaction.atomic():
        RoleChange.objects.filter(pk=change.pk).update(state="done", decided_by=mara)
    with pytest.raises(Problem, match="is already waiting"):
        request_roles(puppet, "helpdesk", by=mara)
    role_changes.approve_role_change(change, by=jakob)
    assert roles_of(puppet) == ["approver"]
    with pytest.raises(Conflict):
        role_changes.approve_role_change(change, by=jakob)
    alone = request_roles(jakob, "network_admin", by=mara)
    assert alone.state == "waiting", "whoever removes the other approver would approve their own changes alone"
    role_changes.cancel_role_change(alone, by=jakob)
    assert roles_of(jakob) == BOTH


def test_who_lost_his_roles_meanwhile_gives_nothing_any_more() -> None:
    mara, jakob, puppet = factories.user(roles=BOTH), factories.user("jakob", roles=BOTH), factories.user("puppet", roles=["member"])
    change = request_roles(puppet, "approver", by=mara)
    User.objects.filter(pk=mara.pk).update(roles=["member"])
    with pytest.raises(Problem, match="only a network administrator who has this role"):
        role_changes.approve_role_change(change, by=jakob)
    assert roles_of(puppet) == ["member"]


def test_the_only_approver_makes_the_second_one_alone() -> None:
    mara, jakob = factories.user(roles=BOTH), factories.user("jakob", roles=ADMIN)
    assert request_roles(jakob, *BOTH, by=mara).state == "done"


def test_the_last_network_admin_stays() -> None:
    mara, jakob = factories.user(roles=ADMIN), factories.user("jakob", roles=ADMIN)
    request_roles(jakob, "helpdesk", by=mara)

    def delete() -> None:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM accounts_user")

    for lost in (lambda: User.objects.update(roles=[]), lambda: User.objects.update(is_active=False), delete):
        with pytest.raises(IntegrityError, match="the last network admin"), transaction.atomic():
            lost()
    assert roles_of(mara) == ADMIN
    User.objects.filter(pk=jakob.pk).update(roles=ADMIN, is_active=False)
    stale = factories.user("stale", roles=ADMIN)
    User.objects.filter(pk=stale.pk).update(roles=["helpdesk"])
    acting = User(pk=jakob.pk, roles=ADMIN, is_active=True)
    with pytest.raises(Problem, match="is the last network admin"):
        request_roles(mara, "helpdesk", by=acting)


@pytest.mark.django_db(transaction=True)
def test_the_last_two_network_admins_cannot_remove_each_other_at_once() -> None:
    mara, jakob = factories.user(roles=ADMIN), factories.user("jakob", roles=ADMIN)
    both, refused = Barrier(2), list[Problem]()

    def remove(user: User, by: User) -> None:
        both.wait()
        try:
            request_roles(user, by=by)
        except Problem as problem:
            refused.append(problem)
        finally:
            connection.close()

    threads = [Thread(target=remove, args=pair) for pair in ((mara, jakob), (jakob, mara))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert User.objects.filter(roles__contains=ADMIN).count() == 1


def test_an_invitation_never_carries_what_two_agree_on_and_ends_with_its_author() -> None:
    mara = factories.user(roles=BOTH)
    with pytest.raises(Problem, match="cannot include"):
        invitations.create_invitation(email="puppet@lindenhof.example", roles=["approver"], by=mara)
    page = signed_in(mara).post("/account/invitations/", {"email": "p@lindenhof.example", "roles": ["approver"], "password": "x"})
    assert page.status_code == 422
    _made, token = invitations.create_invitation(email="ines@lindenhof.example", roles=["network_admin"], by=mara)
    assert invitations.find_invitation(token)
    factories.user("jakob", roles=ADMIN)
    User.objects.filter(pk=mara.pk).update(roles=["helpdesk"])
    assert invitations.find_invitation(token) is None


def test_the_pages_show_who_has_which_role_and_change_it() -> None:
    mara, jakob, ines = factories.user(roles=BOTH), factories.user("jakob", roles=BOTH), factories.user("ines", roles=["helpdesk"])
    tokens.create_token(user=ines, name="backup script")
    admin, other = signed_in(mara), signed_in(jakob)
    assert "Ines Lindqvist" in text(admin.get("/account/people/"))
    path = f"/account/people/{ines.pk}/"
    assert "backup script" in text(admin.get(path))
    given = {"before": "helpdesk", "roles": ["helpdesk", "auditor"], "reason": ""}
    assert admin.post(f"{path}roles/", given).status_code == 422
    assert "help desk, auditor" in list_messages(admin.post(f"{path}roles/", given | {"reason": "looks at everything"}, follow=True))[0]
    assert admin.post(f"{path}roles/", given | {"reason": "second tab"}).status_code == 422, "roles changed since the page was loaded"
    wanted = {"before": "helpdesk,auditor", "roles": ["approver"], "reason": "approves"}
    assert "waits until an approver" in list_messages(admin.post(f"{path}roles/", wanted, follow=True))[0]
    change = RoleChange.objects.get(state="waiting")
    page = text(other.get(path))
    assert "Agree to these roles" in page and "looks at everything" in page
    assert "Agree to these roles" not in text(admin.get(path))
    assert "approver" in list_messages(other.post(f"/account/people/changes/{change.pk}/agree/", follow=True))[0]
    assert "is no longer waiting" in list_messages(other.post(f"/account/people/changes/{change.pk}/drop/", follow=True))[0]
    assert roles_of(ines) == ["approver"]


def test_somebody_is_signed_out_everywhere() -> None:
    mara, ines = factories.user(), factories.user("ines", roles=["helpdesk"])
    hers, admin = Client(), signed_in(mara)
    assert hers.post("/account/login/", {"login": ines.username, "password": PASSWORD}).status_code == 302
    assert hers.get("/account/").status_code == 200
    answer = admin.post(f"/account/people/{ines.pk}/sign-out/", follow=True)
    assert "signed out on 1 device" in list_messages(answer)[0]
    assert hers.get("/account/").status_code == 302
    assert admin.get("/account/").status_code == 200
    assert Client().post(f"/account/people/{ines.pk}/sign-out/").status_code == 302
