"""Who may sign in, and tokens for scripts."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.lib.history import tracked


class User(AbstractUser):
    """Somebody who signs in. `is_staff` runs the network; what else roles allow comes with roles."""

    language = models.CharField(_("language"), max_length=2, choices=[("en", "English"), ("de", "Deutsch")], default="en")

    class Meta(AbstractUser.Meta):
        constraints = [models.UniqueConstraint(models.functions.Lower("username"), name="user_username_unique_without_case")]

    @property
    def name(self) -> str:
        """The name to show to others."""
        return self.get_full_name() or self.username


@tracked(exclude=["last_used"])
class ApiToken(models.Model):
    """A script's key. Only its SHA-256 is kept: the key itself is shown once."""

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(_("what for"), max_length=80)
    sha256 = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(null=True)
    expires = models.DateTimeField(null=True)
