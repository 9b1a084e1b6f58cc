"""Names without a place to break, as long as they may be: no page is wider than its window, on a desk and on a phone."""

from typing import Any, Final

import pytest
from django.apps import apps
from django.db import DatabaseError, models, transaction
from playwright.sync_api import Browser, ViewportSize
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from tests.web import scene
from tests.web.conftest import signed_in
from tests.web.test_every_page import TOO_WIDE, looks

__all__ = ["looks"]
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("whole")]

LENGTH: Final = 110
WINDOWS: Final[list[ViewportSize]] = [{"width": 1280, "height": 900}, {"width": 390, "height": 844}]
WRITTEN: Final = {"name", "title", "subject", "purpose", "comment", "note", "first_name", "last_name", "contact", "address_line"}
"""Fields that people write."""


def written(model: type[models.Model]) -> list[str]:
    """Those of them that are as long, or longer."""
    fields = [each for each in model._meta.get_fields() if isinstance(each, models.CharField | models.TextField)]
    return [each.name for each in fields if each.name in WRITTEN and not each.choices and (each.max_length or LENGTH) >= LENGTH]


def lengthen() -> int:
    """Writes a long name wherever one may stand; how many."""
    done = 0
    for model in apps.get_models():
        if not model._meta.managed or model._meta.app_label.startswith(("auth", "django", "socialaccount")):
            continue
        for row in model._default_manager.all():
            done += sum(lengthened(model, row.pk, name) for name in written(model))
    return done


def lengthened(model: type[models.Model], pk: Any, name: str) -> bool:
    """False where the database knows better, as for names that kernels read."""
    long = f"{'Donaudampfschifffahrtsgesellschaft' * 4}"[: LENGTH - 6] + f"{pk}"[-6:].rjust(6, "x")
    try:
        with transaction.atomic():
            return bool(model._default_manager.filter(pk=pk).update(**{name: long}))
    except DatabaseError:
        return False


def test_no_page_is_wider_than_its_window(chromium: Browser, live_server: LiveServer, looks: User) -> None:
    staff, own = [each.path for each in scene.pages()], [each.path for each in scene.own()]
    resident = User.objects.get(username=scene.RESIDENT)
    assert lengthen() > 50
    faults = []
    for window in WINDOWS:
        for who, paths in ((looks, staff), (resident, own)):
            page = signed_in(chromium, live_server, who, viewport=window, locale="de-DE").new_page()
            for path in paths:
                page.goto(path, wait_until="load")
                faults += [f"{window['width']} {path}: {each}" for each in page.evaluate(TOO_WIDE)]
    assert faults == []
