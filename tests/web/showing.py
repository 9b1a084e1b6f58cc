"""What of a demo can be pictured: reads its database, and writes for `pictures.py` which pages there are, and a session for each reader.

Knows from `scene.py` which pages there are and what each shows. Runs as `portal.stack run -- python -m tests.web.showing`.
"""

import json
import os
import sys
from collections.abc import Iterator
from time import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY  # noqa: E402 - what follows needs Django
from django.conf import settings  # noqa: E402
from django.core.exceptions import ObjectDoesNotExist  # noqa: E402
from django.test import Client  # noqa: E402

from apps.accounts.models import User  # noqa: E402
from tests.web import scene  # noqa: E402

ADMIN = "mara"


def shots() -> Iterator[dict[str, str]]:
    """Every page that the demo can show: what its pictures are called, its path, and whose it is ("" for strangers)."""
    asked = [(name, query) for name, query in scene.ALSO if "{" not in query]
    for at, (name, query) in enumerate([*((name, "") for name in scene.visited()), *asked]):
        path = address(name)
        if path is None:
            sys.stderr.write(f"left out, the demo has none of it: {name}\n")
            continue
        username = scene.RESIDENT if name.startswith("own:") else "" if name in scene.STRANGERS else ADMIN
        file = f"{name.replace(':', '-')}-{at}" if query else name.replace(":", "-")
        yield {"file": file, "path": f"{path}?{query}" if query else path, "username": username}


def address(name: str) -> str | None:
    """Where the page is; None if there is nothing that it could show."""
    try:
        return scene.address(name)
    except (IndexError, ObjectDoesNotExist):
        return None


def session(username: str) -> str:
    """The cookie of somebody who has signed in just now, with a password."""
    client = Client()
    client.force_login(User.objects.get(username=username))
    session = client.session
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "password", "at": time(), "username": username}]
    session.save()
    return client.cookies[settings.SESSION_COOKIE_NAME].value


if __name__ == "__main__":
    if "--fill" in sys.argv:
        scene.fill()
    sessions = {username: session(username) for username in (ADMIN, scene.RESIDENT)}
    json.dump({"shots": list(shots()), "sessions": sessions, "cookie": settings.SESSION_COOKIE_NAME}, sys.stdout)
