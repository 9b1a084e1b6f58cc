"""List of the pages of a demo that can be pictured, with a session for each user. Writes it as JSON for `pictures.py`.

Reads the demo's database. `demo_scene.py` knows which pages there are and what each shows. Runs as
`portal.stack run -- python -m tests.web.picture_list`.
"""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY, record_authentication  # noqa: E402 - after Django
from django.conf import settings  # noqa: E402
from django.core.exceptions import ObjectDoesNotExist  # noqa: E402
from django.http import HttpRequest  # noqa: E402
from django.test import Client  # noqa: E402

from apps.accounts.models import User  # noqa: E402
from tests.web import demo_scene  # noqa: E402

ADMIN = "mara"
A_DAY = 24 * 3600  # seconds


def shots() -> Iterator[dict[str, str]]:
    """Yield every page that the demo can show: the file name of its pictures, its path, and the user's name ("" for strangers)."""
    asked = [(name, query) for name, query in demo_scene.ALSO if "{" not in query]
    for at, (name, query) in enumerate([*((name, "") for name in demo_scene.list_pages()), *asked]):
        path = address(name)
        if path is None:
            sys.stderr.write(f"left out, the demo has none of it: {name}\n")
            continue
        username = demo_scene.RESIDENT if name.startswith("own:") else "" if name in demo_scene.STRANGERS else ADMIN
        file = f"{name.replace(':', '-')}-{at}" if query else name.replace(":", "-")
        yield {"file": file, "path": f"{path}?{query}" if query else path, "username": username}


def address(name: str) -> str | None:
    """Return the page's path, or None if the demo has nothing for it to show."""
    try:
        return demo_scene.address(name)
    except (IndexError, ObjectDoesNotExist):
        return None


def session(username: str) -> str:
    """Return the session cookie of a user whose password stays recently confirmed while all pictures are taken."""
    client, user = Client(), User.objects.get(username=username)
    client.force_login(user)
    confirm_password(client.session, user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def confirm_password(session: Any, user: User) -> None:
    """Record in the session that the password was just given again. It holds for a day instead of the usual five minutes."""
    asked = HttpRequest()
    asked.session, asked.user = session, user
    record_authentication(asked, user, "password", username=user.username, reauthenticated=True)
    for record in session[AUTHENTICATION_METHODS_SESSION_KEY]:
        record["at"] += A_DAY
    session.save()


if __name__ == "__main__":
    if "--fill" in sys.argv and not demo_scene.is_filled():
        demo_scene.fill()
    sessions = {username: session(username) for username in (ADMIN, demo_scene.RESIDENT)}
    json.dump({"shots": list(shots()), "sessions": sessions, "cookie": settings.SESSION_COOKIE_NAME}, sys.stdout)
