"""Keys for scripts: `Authorization: Bearer nw_…`. The database keeps only their SHA-256."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.accounts.models import ApiToken, User

USE_IS_NOTED_EVERY = timedelta(minutes=5)


def create(*, user: User, name: str, expires: datetime | None = None) -> tuple[ApiToken, str]:
    """A new token and its key. The key is not kept: show it now or never."""
    key = "nw_" + secrets.token_urlsafe(32)
    return ApiToken.objects.create(user=user, name=name, sha256=fingerprint(key), expires=expires), key


def fingerprint(key: str) -> str:
    """What the database keeps of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


class TokenAuthentication(BaseAuthentication):
    """Signs in the user of the key in the Authorization header."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _sep, key = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        now = timezone.now()
        alive = ApiToken.objects.filter(Q(expires=None) | Q(expires__gt=now), user__is_active=True)
        token = alive.select_related("user").filter(sha256=fingerprint(key.strip())).first()
        if token is None:
            raise AuthenticationFailed(
                _("This token is unknown, expired or withdrawn. An administrator can make a new one with “manage.py token”.")
            )
        if token.last_used is None or now - token.last_used > USE_IS_NOTED_EVERY:
            ApiToken.objects.filter(pk=token.pk).update(last_used=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Netzwart"'
