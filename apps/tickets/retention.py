"""Retention of this app's tables: tickets are kept as history, until the personal data in them are erased."""

from apps.operations.registry import TableBoundKind, register_unpruned_tables

register_unpruned_tables(
    TableBoundKind.HISTORY, "tickets.Ticket", "tickets.Message", "tickets.Words", "tickets.Attachment", "tickets.Content"
)
register_unpruned_tables(TableBoundKind.HISTORY, "tickets.Link", "tickets.Move", "tickets.Bulk", "tickets.BulkItem", "tickets.Period")
register_unpruned_tables(TableBoundKind.PEOPLE, "tickets.Canned")
