"""How much each holding forwarded, when, and which readings of which gateway say so.

up: from the member; down: to the member. Octets are those of IP packets. Rows of usage name a holding without a foreign key: Django
allows none in a composite primary key, and holdings are never deleted.
"""

from django.db import models
from django.db.models import F, Q

from apps.lib.database.history import track_history
from apps.lib.ui.formats import format_volume
from apps.members.models import Tariff
from apps.network.models import Gateway, Holding
from apps.traffic.fairshare.models import FairShare as FairShare
from apps.traffic.rates.models import RateLimit as RateLimit


class Tally(models.Model):
    """What one gateway forwarded for one holding before usage was kept by time: one sum, from `since` to `last`."""

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    holding = models.ForeignKey(Holding, models.CASCADE, related_name="tallies")
    up_octets = models.PositiveBigIntegerField(default=0)
    up_packets = models.PositiveBigIntegerField(default=0)
    down_octets = models.PositiveBigIntegerField(default=0)
    down_packets = models.PositiveBigIntegerField(default=0)
    since = models.DateTimeField()
    last = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["gateway", "holding"], name="tally_once_per_gateway")]


class CounterColumns(models.Model):
    """Octets and packets each way."""

    up_octets = models.BigIntegerField()
    up_packets = models.BigIntegerField()
    down_octets = models.BigIntegerField()
    down_packets = models.BigIntegerField()

    class Meta:
        abstract = True


class Usage(CounterColumns):
    """What one holding forwarded over all gateways in the time that begins at `bucket`. A silent holding has no row.

    The tables are partitioned by `bucket`; partitions.py makes and drops them.
    """

    pk = models.CompositePrimaryKey("holding_id", "bucket")
    holding_id = models.BigIntegerField()
    bucket = models.DateTimeField()

    class Meta:
        abstract = True


class FiveMinutes(Usage):
    """As it was read."""


class Hour(Usage):
    """Rolled up from five minutes, once the hour is over."""


class Day(Usage):
    """Rolled up from hours, once the day is over in UTC."""


class Today(Usage):
    """The day that is under way, from its first five minutes to the last that are over: so that nobody has to add them up."""


class Week(Usage):
    """Rolled up from days, once the seven days are over: so that lists of months and years add up few rows."""


class FourWeeks(Usage):
    """Rolled up from weeks, once all four are over."""


class Span(models.Model):
    """A long time that is over, of which SpanUsage is the sum."""

    since = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["since", "until"], name="span_once"),
            models.CheckConstraint(condition=Q(until__gt=F("since")), name="span_ends_after_it_begins"),
        ]


class SpanUsage(models.Model):
    """What one member forwarded in a span. A silent member has no row."""

    pk = models.CompositePrimaryKey("span_id", "member_id")
    span = models.ForeignKey(Span, models.CASCADE, related_name="+")
    member_id = models.BigIntegerField()
    up_octets = models.BigIntegerField()
    down_octets = models.BigIntegerField()


class Level(models.Model):
    """How long one of the tables of usage is kept, and up to when it is complete: from there on only finer ones know.

    Of today what is complete is a part of a day; all others are complete by whole buckets.
    """

    class Name(models.TextChoices):
        FIVE_MINUTES = "fiveminutes"
        HOUR = "hour"
        DAY = "day"
        TODAY = "today"
        WEEK = "week"
        FOUR_WEEKS = "fourweeks"

    name = models.CharField(primary_key=True, max_length=11, choices=Name)
    days = models.PositiveIntegerField()
    complete_until = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(name="fiveminutes", days__range=(2, 60))
                | Q(name="hour", days__range=(7, 400))
                | Q(name__in=["day", "week", "fourweeks"], days__range=(31, 3660))
                | Q(name="today", days=2),
                name="level_kept_for_a_sensible_time",
            )
        ]


class Collected(models.Model):
    """Where the readings of one gateway stand.

    asked, told: tickets of the last question, and of the last answer that was written down. boot, table, log, sequence, gone: of that
    answer, as in firewall.counters.Baseline. refused: why the last reading was not believed, "" if it was. nobodys: elements of it that
    belong to no holding, and the first of them. up_bits, down_bits: what members sent and got lately, up to rated_at, bit/s; None
    when nobody knows. up_octets, down_octets: since then.
    """

    gateway = models.OneToOneField(Gateway, models.CASCADE, primary_key=True, related_name="collected")
    asked = models.PositiveBigIntegerField(default=0)
    told = models.PositiveBigIntegerField(default=0)
    boot = models.CharField(max_length=100, default="", blank=True)
    table = models.PositiveBigIntegerField(default=0)
    log = models.CharField(max_length=100, default="", blank=True)
    sequence = models.PositiveBigIntegerField(default=0)
    gone = models.PositiveBigIntegerField(default=0)
    at = models.DateTimeField(null=True)
    up_bits = models.PositiveBigIntegerField(null=True)
    down_bits = models.PositiveBigIntegerField(null=True)
    rated_at = models.DateTimeField(null=True)
    up_octets = models.PositiveBigIntegerField(default=0)
    down_octets = models.PositiveBigIntegerField(default=0)
    refused = models.TextField(default="", blank=True)
    refused_at = models.DateTimeField(null=True)
    nobodys = models.PositiveIntegerField(default=0)
    skip = models.BooleanField(default=False)  # the next reading is only where counting begins again
    nobodys_first = models.CharField(max_length=60, default="", blank=True)


class LastCounts(models.Model):
    """One set's counters as they were written down last, in the columns of firewall.wire.Counts."""

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    set = models.CharField(max_length=60)
    elements = models.PositiveIntegerField(default=0)
    keys = models.BinaryField()
    packets = models.BinaryField()
    octets = models.BinaryField()
    owners = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["gateway", "set"], name="lastcounts_once_per_set")]


class Coverage(models.Model):
    """From when to when a gateway was read without a pause. Between two of them nobody knows when what passed.

    carried: what passed in the pause before is counted, at `since`; otherwise it is lost, as after a power cut.
    """

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    since = models.DateTimeField()
    until = models.DateTimeField()
    carried = models.BooleanField()

    class Meta:
        indexes = [models.Index(fields=["gateway", "until"], name="coverage_by_gateway")]
        constraints = [models.CheckConstraint(condition=Q(until__gte=F("since")), name="coverage_ends_after_it_begins")]


class Throughput(CounterColumns):
    """What members sent and got through one gateway by one IP version in five minutes, whoever they were."""

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    family = models.PositiveSmallIntegerField()
    bucket = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gateway", "family", "bucket"], name="throughput_once_per_bucket"),
            models.CheckConstraint(condition=Q(family__in=[4, 6]), name="throughput_family"),
        ]
        indexes = [models.Index(fields=["bucket"], name="throughput_by_time")]  # what is too old is looked for every minute


@track_history()
class Quota(models.Model):
    """How many octets a member with this tariff should not exceed in a calendar month, up and down together. Nothing is cut off by it."""

    tariff = models.OneToOneField(Tariff, models.CASCADE, primary_key=True, related_name="quota")
    octets = models.PositiveBigIntegerField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(octets__gt=0), name="quota_is_something")]

    def __str__(self) -> str:
        return format_volume(self.octets)
