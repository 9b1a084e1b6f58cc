"""Retention of this app's tables: tickets are kept as history, until the personal data in them are erased."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.HISTORY, "tickets.Ticket", "tickets.Message", "tickets.Words", "tickets.Attachment", "tickets.Content")
register_bounded(TableBound.HISTORY, "tickets.Link", "tickets.Move", "tickets.Bulk", "tickets.BulkItem", "tickets.Period")
register_bounded(TableBound.PEOPLE, "tickets.Canned")
