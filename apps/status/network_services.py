"""The services that the status page speaks of, and how badly one can be affected."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class NetworkService(models.TextChoices):
    """What members use."""

    IPV4 = "ipv4", _("Internet, IPv4")
    IPV6 = "ipv6", _("Internet, IPv6")
    PORTAL = "portal", _("Portal and tickets")


class Impact(models.TextChoices):
    """What members notice of an incident."""

    NONE = "none", _("nothing noticeable")
    DEGRADED = "degraded", _("slow or unstable")
    DOWN = "down", _("does not work")
