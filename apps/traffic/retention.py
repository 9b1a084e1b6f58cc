"""Retention of this app's tables: partitions of usage are dropped; the number of members and elements bounds the rest."""

from django.utils.translation import gettext_lazy as _

from apps.operations.registry import TableBoundKind, register_pruned_table, register_unpruned_tables

USAGE = ("FiveMinutes", "Hour", "Day", "Today", "Week", "FourWeeks", "Coverage", "Throughput")
for each in USAGE:
    register_pruned_table(f"traffic.{each}", kept=_("depends on its level (accounting)"), by="workers.tend_usage")
register_pruned_table("traffic.Span", kept=_("until the next one replaces it"), by="workers.tend_usage")
register_pruned_table("traffic.SpanUsage", kept=_("until the next one replaces it"), by="workers.tend_usage")
register_unpruned_tables(TableBoundKind.CODE, "traffic.Level", "traffic.Collected", "traffic.LastCounts", "traffic.Tally")
register_unpruned_tables(TableBoundKind.PEOPLE, "traffic.FairShare", "traffic.Quota")
register_unpruned_tables(TableBoundKind.HISTORY, "traffic.RateLimit")
