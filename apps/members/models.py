"""People, what they pay for, where they live, and their devices."""

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from apps.lib.fields import MacField
from apps.lib.history import tracked
from apps.lib.models import Versioned

LOWEST_KBIT, HIGHEST_KBIT = 64, 10_000_000  # of a rate, kbit/s


class Rated:
    """What has a rate each way, or none."""

    up_kbit: int | None
    down_kbit: int | None

    @property
    def up_bits(self) -> int | None:
        """Bits a second from the member."""
        return self.up_kbit and self.up_kbit * 1000

    @property
    def down_bits(self) -> int | None:
        """Bits a second to the member."""
        return self.down_kbit and self.down_kbit * 1000


class Tariff(Rated, Versioned):
    """What a member may use. up_kbit, down_kbit: how fast, through the uplink, from him and to him, kbit/s; None: as fast as it goes."""

    name = models.CharField(_("name"), max_length=60, unique=True)
    most_forwards = models.PositiveSmallIntegerField(_("most port forwards"), default=8)
    trial = models.BooleanField(_("trial"), default=False)
    up_kbit = models.PositiveIntegerField(_("rate up"), null=True, blank=True)
    down_kbit = models.PositiveIntegerField(_("rate down"), null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(up_kbit=None) | models.Q(up_kbit__range=(LOWEST_KBIT, HIGHEST_KBIT)), name="tariff_up_kbit"
            ),
            models.CheckConstraint(
                condition=models.Q(down_kbit=None) | models.Q(down_kbit__range=(LOWEST_KBIT, HIGHEST_KBIT)), name="tariff_down_kbit"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Site(models.Model):
    """A house."""

    name = models.CharField(_("name"), max_length=60, unique=True)
    code = models.CharField(_("code"), max_length=8, unique=True)

    class Meta:
        ordering = ["code"]

    def __str__(self) -> str:
        return self.name


class Room(models.Model):
    """A room of a house; `name` is what stands on its door, unique within the house."""

    site = models.ForeignKey(Site, models.PROTECT, related_name="rooms")
    floor = models.SmallIntegerField(_("floor"))
    name = models.CharField(_("name"), max_length=20)

    class Meta:
        ordering = ["site__code", "name"]
        constraints = [models.UniqueConstraint(fields=["site", "name"], name="room_name_once_per_site")]

    def __str__(self) -> str:
        return f"{self.site.code}-{self.name}"


@tracked()
class Member(Versioned):
    """A person who uses the network."""

    class State(models.TextChoices):
        PENDING = "pending", _("not yet active")
        ACTIVE = "active", _("active")
        LEFT = "left", _("left")

    number = models.PositiveIntegerField(_("number"), unique=True)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="member")
    name = models.CharField(_("name"), max_length=120)
    email = models.EmailField(_("e-mail"), blank=True)
    language = models.CharField(_("language"), max_length=2, choices=settings.LANGUAGES, default="en")
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.PENDING)
    tariff = models.ForeignKey(Tariff, models.PROTECT, verbose_name=_("tariff"))
    room = models.ForeignKey(Room, models.PROTECT, null=True, blank=True, verbose_name=_("room"), related_name="members")
    since = models.DateField(_("member since"))
    paid_until = models.DateField(_("paid until"), null=True, blank=True)
    note = models.TextField(_("note"), blank=True)

    class Meta:
        ordering = ["name", "id"]
        indexes = [
            models.Index(fields=["name", "id"], name="member_by_name"),
            GinIndex(OpClass(Lower("name"), "gin_trgm_ops"), name="member_name_search"),
            models.Index(fields=["state", "name", "id"], name="member_by_state_and_name"),
            models.Index(fields=["paid_until", "name", "id"], name="member_by_end_of_payment"),
            models.Index(fields=["state", "tariff"], name="member_counted"),
        ]
        constraints = [
            models.CheckConstraint(condition=~models.Q(name=""), name="member_has_a_name"),
            models.CheckConstraint(condition=models.Q(state__in=["pending", "active", "left"]), name="member_state_known"),
        ]

    def __str__(self) -> str:
        return self.name


@tracked()
class Device(models.Model):
    """A member's device on the network."""

    member = models.ForeignKey(Member, models.CASCADE, related_name="devices")
    name = models.CharField(_("name"), max_length=60)
    mac = MacField(_("MAC address"), unique=True)

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name
