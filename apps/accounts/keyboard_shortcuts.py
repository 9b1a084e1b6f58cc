"""Switch for single-key shortcuts on pages: people who dictate, or often hit a key by accident, turn them off (WCAG 2.1.4)."""

from apps.accounts.models import User


def switch_shortcuts(user: User, on: bool) -> None:
    """Turn the shortcuts on or off for this account, on all its devices."""
    User.objects.filter(pk=user.pk).exclude(keys=on).update(keys=on)
    user.keys = on
