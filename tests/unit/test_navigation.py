"""Navigation links only pages that exist and that the user may see. The theme is stored, and its switch redirects only within the
portal.
"""

from collections.abc import Iterator
from types import ModuleType

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory, override_settings
from django.urls import include, path

from apps.lib import views
from apps.lib.web import context_processors, navigation
from apps.lib.web.navigation import NavigationCount, NavigationItem, NavigationSection, User


def staff() -> User:
    return get_user_model()(username="mara", is_staff=True)


def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.path)


urls = ModuleType("urls")
urls.urlpatterns = [  # type: ignore[attr-defined]  # a module made for these tests
    path("", include(([path("", page, name="dashboard")], "desk"))),
    path("members/", include(([path("", page, name="list"), path("tariffs/", page, name="tariffs")], "members"))),
]


SECTIONS = (
    NavigationSection("", (NavigationItem("Dashboard", "desk:dashboard", "dashboard"),)),
    NavigationSection(
        "People", (NavigationItem("Members", "members:list", "members"), NavigationItem("Tariffs", "members:tariffs", "tariffs"))
    ),
    NavigationSection("Later", (NavigationItem("Tickets", "tickets:list", "tickets"),)),
)


@pytest.fixture(autouse=True)
def few_urls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(navigation, "SECTIONS", SECTIONS)
    monkeypatch.setattr(navigation, "_counters", {})
    monkeypatch.setattr(navigation, "_doorkeepers", [])
    with override_settings(ROOT_URLCONF=urls):
        yield


def build_items(path: str, user: User) -> dict[str, navigation.ShownItem]:
    return {str(item.name): item for section in navigation.build_navigation(RequestFactory().get(path), user) for item in section.items}


def test_only_what_exists_is_linked() -> None:
    assert set(build_items("/", staff())) == {"Dashboard", "Members", "Tariffs"}


def test_what_one_may_not_use_is_not_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "_doorkeepers", [lambda _user, name: name == "members:tariffs"])
    assert set(build_items("/", staff())) == {"Tariffs"}


def test_visitors_who_are_not_staff_have_no_navigation() -> None:
    assert build_items("/", AnonymousUser()) == {}


@pytest.mark.parametrize(
    ("path", "current"), [("/", "Dashboard"), ("/members/17/", "Members"), ("/members/tariffs/", "Tariffs"), ("/bans/", None)]
)
def test_the_nearest_item_is_current(path: str, current: str | None) -> None:
    assert [name for name, item in build_items(path, staff()).items() if item.current] == ([current] if current else [])


def test_a_registered_count_stands_behind_its_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "_counters", {"members:list": lambda _: NavigationCount(6, asks=True)})
    assert build_items("/", staff())["Members"].count == NavigationCount(6, asks=True)


def test_the_theme_is_remembered() -> None:
    response = views.switch_theme(RequestFactory().post("/theme/", {"theme": "dark", "next": "/members/"}))
    assert response["Location"] == "/members/"
    assert response.cookies["theme"].value == "dark"


def test_the_theme_switch_leads_nowhere_else_and_takes_no_other_word() -> None:
    response = views.switch_theme(RequestFactory().post("/theme/", {"theme": "pink", "next": "https://evil.example/"}))
    assert response["Location"] == "/"
    assert "theme" not in response.cookies


@pytest.mark.parametrize("after", ["nowhere", "a\0b", "9999-12-31"])
def test_the_theme_switch_leads_back_to_a_word_that_is_no_route(after: str) -> None:
    assert views.switch_theme(RequestFactory().post("/theme/", {"theme": "dark", "next": after})).status_code == 302


@pytest.mark.parametrize(("cookie", "theme"), [("dark", "dark"), ("pink", "auto"), (None, "auto")])
def test_an_unknown_theme_follows_the_system(cookie: str | None, theme: str) -> None:
    request = RequestFactory().get("/")
    if cookie:
        request.COOKIES["theme"] = cookie
    assert context_processors.get_theme(request) == theme
