"""How this app's tables are bounded: tickets are history, until the personal data in them are erased."""

from apps.operations.registry import Bound, bounded

bounded(Bound.HISTORY, "tickets.Ticket", "tickets.Message", "tickets.Words", "tickets.Attachment", "tickets.Content")
bounded(Bound.HISTORY, "tickets.Link", "tickets.Move", "tickets.Bulk", "tickets.BulkItem", "tickets.Period")
bounded(Bound.PEOPLE, "tickets.Canned")
