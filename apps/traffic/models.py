"""Models of traffic: usage of holdings by time, throughput of gateways, and the state of their readings.

up: from the member; down: to the member. Octets are those of IP packets. Rows of usage name a holding without a foreign key: Django
allows none in a composite primary key, and holdings are never deleted.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from apps.lib.database.history import track_history
from apps.lib.ui.formats import format_volume
from apps.members.models import Tariff
from apps.network.models import Gateway, Holding
from apps.preferences.declarations import KEEP_DAYS_DAYS, KEEP_FIVE_MINUTES_DAYS, KEEP_HOURS_DAYS
from apps.preferences.selectors import read_setting
from apps.traffic.fairshare.models import FairShare as FairShare
from apps.traffic.rates.models import RateLimit as RateLimit


class Tally(models.Model):
    """Total of one holding at one gateway from the days before usage was kept by time: one sum, from `since` to `last`."""

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
    """Abstract columns: octets and packets in each direction."""

    up_octets = models.BigIntegerField()
    up_packets = models.BigIntegerField()
    down_octets = models.BigIntegerField()
    down_packets = models.BigIntegerField()

    class Meta:
        abstract = True


class HoldingUsage(CounterColumns):
    """Usage of one holding over all gateways in the bucket that begins at `bucket`. A holding without traffic has no row.

    The tables are partitioned by `bucket`; partitions.py makes and drops the partitions.
    """

    pk = models.CompositePrimaryKey("holding_id", "bucket")
    holding_id = models.BigIntegerField()
    bucket = models.DateTimeField()

    class Meta:
        abstract = True


class FiveMinutes(HoldingUsage):
    """Usage by five minutes, as read from the gateways."""


class Hour(HoldingUsage):
    """Usage by hour, rolled up from five minutes once the hour is over."""


class Day(HoldingUsage):
    """Usage by day, rolled up from hours once the day is over in UTC."""


class Today(HoldingUsage):
    """Usage of the current day, from its first five minutes to the last that are over: so queries need not add them up."""


class Week(HoldingUsage):
    """Usage by week, rolled up from days once all seven are over: so lists over months and years add up few rows."""


class FourWeeks(HoldingUsage):
    """Usage by four weeks, rolled up from weeks once all four are over."""


class Span(models.Model):
    """A long past time for which SpanUsage has the sums."""

    since = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["since", "until"], name="span_once"),
            models.CheckConstraint(condition=Q(until__gt=F("since")), name="span_ends_after_it_begins"),
        ]


class SpanUsage(models.Model):
    """Usage of one member in a span. A member without traffic has no row."""

    pk = models.CompositePrimaryKey("span_id", "member_id")
    span = models.ForeignKey(Span, models.CASCADE, related_name="+")
    member_id = models.BigIntegerField()
    up_octets = models.BigIntegerField()
    down_octets = models.BigIntegerField()


class Level(models.Model):
    """A table of usage, and the moment up to which it is complete: later usage is in finer tables only.

    `today` is complete up to a moment within its day; all others by whole buckets. kept_since: what began before was dropped; None until
    maintenance ran for the first time.
    """

    class Name(models.TextChoices):
        FIVE_MINUTES = "fiveminutes"
        HOUR = "hour"
        DAY = "day"
        TODAY = "today"
        WEEK = "week"
        FOUR_WEEKS = "fourweeks"

    name = models.CharField(primary_key=True, max_length=11, choices=Name)
    complete_until = models.DateTimeField()
    kept_since = models.DateTimeField(null=True)

    @property
    def days(self) -> int:
        """How many days usage is kept in this table; weeks are sums of days."""
        match self.name:
            case self.Name.FIVE_MINUTES:
                return read_setting(KEEP_FIVE_MINUTES_DAYS)
            case self.Name.HOUR:
                return read_setting(KEEP_HOURS_DAYS)
            case self.Name.TODAY:
                return 2
            case _:
                return read_setting(KEEP_DAYS_DAYS)


class Collected(models.Model):
    """State of one gateway's readings.

    asked, told: numbers of the last ticket drawn, and of the ticket of the last reading written down. boot, table, log, sequence, gone:
    of that reading, as in firewall.counters.Baseline. refused: why the last reading was refused, "" if it was accepted; refused_at:
    since when readings are refused. nobodys, nobodys_first: number of its elements that belong to no holding, and the first of them.
    up_bits, down_bits: members' recent rates up to rated_at, bit/s; None when unknown. up_octets, down_octets: octets since rated_at.
    former_logs: names of the logs of machines that the gateway had before. If `log` is one of them, no machine after it was read yet.
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
    skip = models.BooleanField(default=False)  # take only the baseline from the next reading, count nothing
    nobodys_first = models.CharField(max_length=60, default="", blank=True)
    former_logs = ArrayField(models.CharField(max_length=100), default=list, blank=True, db_default=[])


class LastCounts(models.Model):
    """Counters of one set in the last reading that was written down, in the columns of firewall.wire.Counts."""

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
    """A stretch of time in which a gateway was read without a gap. What passed between two stretches has no known time.

    carried: what passed in the gap before is counted, at `since`; otherwise it is lost, as after a power cut.
    """

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    since = models.DateTimeField()
    until = models.DateTimeField()
    carried = models.BooleanField()

    class Meta:
        indexes = [models.Index(fields=["gateway", "until"], name="coverage_by_gateway")]
        constraints = [models.CheckConstraint(condition=Q(until__gte=F("since")), name="coverage_ends_after_it_begins")]


class Throughput(CounterColumns):
    """Traffic of all members through one gateway by one IP version in five minutes."""

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    family = models.PositiveSmallIntegerField()
    bucket = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gateway", "family", "bucket"], name="throughput_once_per_bucket"),
            models.CheckConstraint(condition=Q(family__in=[4, 6]), name="throughput_family"),
        ]
        indexes = [
            models.Index(fields=["bucket"], name="throughput_by_time")
        ]  # `rollup.drop_expired_usage` looks for old rows every minute


@track_history()
class Quota(models.Model):
    """Octets that a member with this tariff should not exceed in a calendar month, up and down together. Nothing is cut off by it."""

    tariff = models.OneToOneField(Tariff, models.CASCADE, primary_key=True, related_name="quota")
    octets = models.PositiveBigIntegerField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(octets__gt=0), name="quota_is_something")]

    def __str__(self) -> str:
        return format_volume(self.octets)
