"""Session engine (SESSION_ENGINE): Django's, with the keys in the database, but it looks up only what can be a key, and keeps a session's
key when the portal's secret key is replaced.
"""

import re
from typing import Final

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.backends import db

KEY: Final = re.compile(r"[a-z0-9]{8,40}")


class SessionStore(db.SessionStore):
    """Sessions in the database. Its name is part of the salt that signs sessions, as is that of Django's own class."""

    def _validate_session_key(self, key: str | None) -> bool:
        """Return False for what no browser got from us: a cookie may hold NUL, which the database refuses with an error."""
        return key is not None and KEY.fullmatch(key) is not None

    def cycle_key(self) -> None:
        """Take a new key, but not in a session whose hash a former secret key made.

        Django's `get_user` asks for that. Whoever reads sessions of other browsers (lists, live events) can send them no new key, and the
        entry in the list of sessions, by which a session is ended, would go on naming the old one. Keys are random, so a leaked secret key
        reveals none.
        """
        if not self._has_hash_of_former_secret():
            super().cycle_key()

    def _has_hash_of_former_secret(self) -> bool:
        """True if the session belongs to a user and its hash is of the user's present password and a key of SECRET_KEY_FALLBACKS."""
        if SESSION_KEY not in self:
            return False
        user = get_user_model()._default_manager.filter(pk=self[SESSION_KEY]).first()
        return user is not None and self.get(HASH_SESSION_KEY, "") in user.get_session_auth_fallback_hash()
