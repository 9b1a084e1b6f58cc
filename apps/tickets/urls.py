"""URLs of tickets for staff; members' own tickets are among their own pages."""

from django.urls import path

from apps.tickets.views import canned, chart, many, moving, presence, ticket, tickets

app_name = "tickets"
urlpatterns = [
    path("", tickets.tickets, name="list"),
    path("new/", tickets.new_ticket, name="new"),
    path("notices/", tickets.notices, name="notices"),
    path("canned/", canned.answers, name="canned"),
    path("canned/add/", canned.add, name="canned-add"),
    path("canned/<int:pk>/", canned.edit, name="canned-edit"),
    path("canned/<int:pk>/remove/", canned.remove, name="canned-remove"),
    path("chart/", chart.chart, name="chart"),
    path("chart.csv", chart.chart_csv, name="chart-csv"),
    path("many/", many.bulk_action, name="many"),
    path("many/<int:pk>/", many.bulk_answer, name="sent"),
    path("merge/", moving.merge, name="merge"),
    path("merges/<int:pk>/undo/", moving.unmerge, name="unmerge"),
    path("<int:pk>/split/", moving.split, name="split"),
    path("<int:pk>/", ticket.ticket, name="ticket"),
    path("<int:pk>/change/", ticket.change, name="change"),
    path("<int:pk>/take/", ticket.take, name="take"),
    path("<int:pk>/member/", ticket.assign_member, name="assign-member"),
    path("<int:pk>/presence/", presence.report_presence, name="presence"),
    path("<int:pk>/link/", ticket.link, name="link"),
    path("links/<int:pk>/drop/", ticket.unlink, name="unlink"),
    path("attachments/<int:pk>/", ticket.attachment, name="attachment"),
    path("attachments/<int:pk>/remove/", ticket.remove_attachment, name="attachment-remove"),
]
