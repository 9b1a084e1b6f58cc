"""Single letters and signs that do something on pages: who speaks to a computer, or often hits one, switches them off (WCAG 2.1.4)."""

from apps.accounts.models import User


def switch(user: User, on: bool) -> None:
    """For this person, on all devices."""
    User.objects.filter(pk=user.pk).exclude(keys=on).update(keys=on)
    user.keys = on
