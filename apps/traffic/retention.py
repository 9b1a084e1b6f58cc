"""How this app's tables are bounded: usage by partitions that are dropped, the rest by the number of members and elements."""

from django.utils.translation import gettext_lazy as _

from apps.operations.registry import Bound, bounded, pruned

USAGE = ("FiveMinutes", "Hour", "Day", "Today", "Week", "FourWeeks", "Coverage", "Throughput")
for each in USAGE:
    pruned(f"traffic.{each}", kept=_("as long as its level says (accounting)"), by="workers.tend_usage")
pruned("traffic.Span", kept=_("until the next one"), by="workers.tend_usage")
pruned("traffic.SpanUsage", kept=_("until the next one"), by="workers.tend_usage")
bounded(Bound.CODE, "traffic.Level", "traffic.Collected", "traffic.LastCounts", "traffic.Tally")
bounded(Bound.PEOPLE, "traffic.FairShare", "traffic.Quota")
bounded(Bound.HISTORY, "traffic.RateLimit")
