"""Session engine (SESSION_ENGINE): Django's, with the keys in the database, but it looks up only what can be a key."""

import re
from typing import Final

from django.contrib.sessions.backends import db

KEY: Final = re.compile(r"[a-z0-9]{8,40}")


class SessionStore(db.SessionStore):
    """Sessions in the database. Its name is part of the salt that signs sessions, as is that of Django's own class."""

    def _validate_session_key(self, key: str | None) -> bool:
        """Return False for what no browser got from us: a cookie may hold NUL, which the database refuses with an error."""
        return key is not None and KEY.fullmatch(key) is not None
