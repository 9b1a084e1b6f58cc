"""How much each holding forwarded."""

from django.db import models

from apps.network.models import Gateway, Holding
from apps.traffic.rates.models import RateLimit as RateLimit


class Tally(models.Model):
    """What one gateway forwarded for one holding, in octets of IP packets and in packets, summed over counter resets.

    up: from the member; down: to the member. The counter_… columns are the kernel's counters as last read.
    """

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    holding = models.ForeignKey(Holding, models.CASCADE, related_name="tallies")
    up_octets = models.PositiveBigIntegerField(default=0)
    up_packets = models.PositiveBigIntegerField(default=0)
    down_octets = models.PositiveBigIntegerField(default=0)
    down_packets = models.PositiveBigIntegerField(default=0)
    counter_up_octets = models.PositiveBigIntegerField(default=0)
    counter_up_packets = models.PositiveBigIntegerField(default=0)
    counter_down_octets = models.PositiveBigIntegerField(default=0)
    counter_down_packets = models.PositiveBigIntegerField(default=0)
    since = models.DateTimeField()
    last = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["gateway", "holding"], name="tally_once_per_gateway")]
