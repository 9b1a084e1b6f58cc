"""Retention of this app's tables: partitions of usage are dropped; the number of members and elements bounds the rest."""

from django.utils.translation import gettext_lazy as _

from apps.operations.registry import TableBound, register_bounded, register_pruned

USAGE = ("FiveMinutes", "Hour", "Day", "Today", "Week", "FourWeeks", "Coverage", "Throughput")
for each in USAGE:
    register_pruned(f"traffic.{each}", kept=_("depends on its level (accounting)"), by="workers.tend_usage")
register_pruned("traffic.Span", kept=_("until the next one replaces it"), by="workers.tend_usage")
register_pruned("traffic.SpanUsage", kept=_("until the next one replaces it"), by="workers.tend_usage")
register_bounded(TableBound.CODE, "traffic.Level", "traffic.Collected", "traffic.LastCounts", "traffic.Tally")
register_bounded(TableBound.PEOPLE, "traffic.FairShare", "traffic.Quota")
register_bounded(TableBound.HISTORY, "traffic.RateLimit")
