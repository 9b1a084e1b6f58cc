"""Ban lists with their bans, feeds and hits, and the allow list."""

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Now, Upper
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy as _

from apps.bans.blocks.models import Block, Notice, Reachable
from apps.bans.listeners.models import Listener, ServerInterface
from apps.bans.refusal_texts import explain_feed_fault
from apps.lib.database.count_triggers import CountedColumn
from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.fields import Prefix, PrefixField
from apps.lib.models import Deployed, Versioned
from apps.network.models import Gateway

__all__ = ["Ban", "BanCount", "BanHits", "BanList", "Block", "Listener", "Notice", "Reachable", "ServerInterface", "Upload"]


@track_history(exclude=["changed_in", "changed_at"])
class BanList(Versioned, Deployed):
    """A named collection of bans, kept by hand or filled by a feed."""

    name = models.CharField(_("name"), max_length=60, unique=True)
    description = models.CharField(_("description"), max_length=200, blank=True)
    enabled = models.BooleanField(_("on"), default=True)

    class Meta:
        ordering = ["name"]
        triggers = [build_stamp_trigger("enabled")]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="banlist_has_a_name")]

    def __str__(self) -> str:
        return self.name


class Direction(models.TextChoices):
    """Direction of the connections that a ban keeps out; the values are those of `firewall.policy.BanDirection`."""

    BOTH = "both", _("both ways")
    IN = "in", _("from there")
    OUT = "out", _("to there")


COUNTED = CountedColumn(table="bans_ban", counts="bans_bancount", column="list_id", field="list")


def _match_family(number: int) -> Exact:
    return Exact(Func(F("prefix"), function="family", output_field=models.IntegerField()), number)


_LENGTH = Func(F("prefix"), function="masklen", output_field=models.IntegerField())
_POSSIBLE = (
    Q(_match_family(4), models.lookups.GreaterThanOrEqual(_LENGTH, 8))
    | Q(_match_family(6), models.lookups.Range(_LENGTH, (16, 64)))
    | Q(_match_family(6), Exact(_LENGTH, 128))
)


def format_prefix(prefix: Prefix) -> str:
    """Return the prefix as people write it: with its length, but a single address without."""
    return str(prefix).removesuffix("/32") if prefix.version == 4 else str(prefix).removesuffix("/128")


@track_history(exclude=["changed_in", "changed_at"])
class Ban(Versioned, Deployed):
    """A banned address or prefix, on one list. Its end is a moment, not a duration: no deployment renews it."""

    list = models.ForeignKey(BanList, models.CASCADE, related_name="bans")
    prefix = PrefixField(_("address or prefix"))
    comment = models.CharField(_("comment"), max_length=200, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(_("since"), auto_now_add=True)
    expires = models.DateTimeField(_("ends"), null=True, blank=True)
    direction = models.CharField(_("direction"), max_length=4, choices=Direction, default=Direction.BOTH, db_default=Direction.BOTH)

    class Meta:
        ordering = ["prefix", "id"]
        triggers = [build_stamp_trigger(), *COUNTED.build_triggers()]
        indexes = [
            models.Index(fields=["prefix"], name="ban_by_prefix"),
            models.Index(fields=["expires"], name="ban_by_end"),
            GinIndex(OpClass(Upper("comment"), "gin_trgm_ops"), name="ban_comment_search"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["list", "prefix"], name="ban_once_per_list"),
            models.CheckConstraint(condition=_POSSIBLE, name="ban_not_too_wide"),
            models.CheckConstraint(condition=Q(direction__in=Direction.values), name="ban_has_a_direction"),
        ]

    def __str__(self) -> str:
        return str(self.prefix)

    @property
    def prefix_text(self) -> str:
        """The prefix as people write it."""
        return format_prefix(self.prefix)


@track_history(exclude=["changed_in", "changed_at"])
class AllowEntry(Versioned, Deployed):
    """An address or prefix that no ban affects, on whatever list, wider or narrower. Its end is a moment, not a duration."""

    prefix = PrefixField(_("address or prefix"), unique=True)
    comment = models.CharField(_("comment"), max_length=200, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(_("since"), auto_now_add=True)
    expires = models.DateTimeField(_("ends"), null=True, blank=True)

    class Meta:
        ordering = ["prefix"]
        verbose_name = _("allow entry")
        verbose_name_plural = _("allow entries")
        triggers = [build_stamp_trigger()]
        indexes = [models.Index(fields=["expires"], name="allowentry_by_end")]
        constraints = [models.CheckConstraint(condition=_POSSIBLE, name="allowentry_not_too_wide")]

    def __str__(self) -> str:
        return str(self.prefix)

    @property
    def prefix_text(self) -> str:
        """The prefix as people write it."""
        return format_prefix(self.prefix)


class BanCount(models.Model):
    """How many bans a statement added to a list, or removed, if negative (COUNTED). Retention sums the rows up.

    No constraint on the list: its deletion removes its bans, and that is counted after it is gone.
    """

    list = models.ForeignKey(BanList, models.DO_NOTHING, related_name="+", db_constraint=False)
    number = models.BigIntegerField()


class BanHits(models.Model):
    """Packets and octets that the kernel of one gateway dropped from or to a banned prefix, summed over counter resets.

    direction: of the kernel's element; a prefix whose two directions end at different times has two elements.
    """

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    prefix = PrefixField()
    direction = models.CharField(max_length=4, choices=Direction, default=Direction.BOTH, db_default=Direction.BOTH)
    packets = models.PositiveBigIntegerField(default=0)
    octets = models.PositiveBigIntegerField(default=0)
    last_hit = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["gateway", "prefix", "direction"], name="banhits_once_per_element")]
        indexes = [models.Index(fields=["prefix"], name="banhits_by_prefix")]


class Upload(models.Model):
    """An uploaded feed between its preview and its import, with the options of the upload."""

    list = models.ForeignKey(BanList, models.CASCADE, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    name = models.CharField(max_length=200)
    content = models.BinaryField()
    keep = models.BooleanField(default=False)
    minimum_count = models.PositiveIntegerField(default=0)
    comment = models.CharField(max_length=200, blank=True)
    expires = models.DateTimeField(null=True)
    direction = models.CharField(max_length=4, choices=Direction, default=Direction.BOTH)


REFRESH_STATE_FIELDS = [
    "due",
    "claimed_until",
    "claim",
    "phase",
    "octets",
    "checked",
    "refreshed",
    "etag",
    "last_modified",
    "error",
    "error_since",
    "outcome",
]
PENDING_IMPORT_FIELDS = ["held", "held_since", "held_removed", "held_of"]


@track_history(exclude=[*REFRESH_STATE_FIELDS, *PENDING_IMPORT_FIELDS])
class BanFeed(Versioned):
    """Source of a list's bans, its refresh interval, and the result of the last refresh.

    source: a URL, or the name of a file in the directory that the settings allow. interval: minutes. shrink_limit: percent of the
    list's bans; an import that would lift more is held back until a person confirms it. due: when it is refreshed next.
    claimed_until: until when the worker with the token `claim` holds the lease.
    """

    class Phase(models.TextChoices):
        IDLE = "", _("idle")
        WAITING = "waiting", _("waiting for a worker")
        FETCHING = "fetching", _("fetching")
        IMPORTING = "importing", _("reading and importing")

    list = models.OneToOneField(BanList, models.CASCADE, related_name="feed")
    source = models.CharField(_("address or file"), max_length=1000)
    interval = models.PositiveIntegerField(_("interval in minutes"), default=24 * 60)
    enabled = models.BooleanField(_("on"), default=True)
    direction = models.CharField(_("direction"), max_length=4, choices=Direction, default=Direction.BOTH)
    minimum_count = models.PositiveIntegerField(_("minimum count"), default=0)
    comment = models.CharField(_("comment for entries without one"), max_length=200, blank=True)
    shrink_limit = models.PositiveSmallIntegerField(_("lift at most, in percent"), default=30)
    due = models.DateTimeField(db_default=Now())
    claimed_until = models.DateTimeField(null=True)
    claim = models.UUIDField(null=True)
    phase = models.CharField(max_length=12, choices=Phase, default=Phase.IDLE, blank=True)
    octets = models.PositiveBigIntegerField(default=0)
    checked = models.DateTimeField(null=True)
    refreshed = models.DateTimeField(null=True)
    etag = models.CharField(max_length=1000, blank=True)
    last_modified = models.CharField(max_length=200, blank=True)
    error = models.JSONField(null=True)
    error_since = models.DateTimeField(null=True)
    outcome = models.JSONField(default=dict)
    held = models.BinaryField(null=True)
    held_since = models.DateTimeField(null=True)
    held_removed = models.PositiveIntegerField(default=0)
    held_of = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("feed")
        constraints = [
            models.CheckConstraint(condition=Q(interval__range=(5, 43_200)), name="banfeed_interval"),
            models.CheckConstraint(condition=Q(shrink_limit__lte=100), name="banfeed_shrink_limit"),
            models.CheckConstraint(condition=~Q(source=""), name="banfeed_has_a_source"),
            models.CheckConstraint(condition=Q(direction__in=Direction.values), name="banfeed_has_a_direction"),
        ]

    def __str__(self) -> str:
        return self.source

    @property
    def error_text(self) -> str:
        """The sentence that explains why the last refresh failed; empty if it did not."""
        return explain_feed_fault(**self.error) if self.error else ""
