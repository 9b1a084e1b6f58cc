"""URLs of incidents, for staff, and of the public status page."""

from django.urls import path

from apps.status.incidents import ticket_views as tickets
from apps.status.incidents import views as incidents
from apps.status.page import views as page
from apps.status.subscriptions import views as subscriptions

app_name = "status"
urlpatterns = [
    path("incidents/", incidents.incidents, name="incidents"),
    path("incidents/add/<slug:kind>/", incidents.add, name="incident-add"),
    path("incidents/<int:pk>/", incidents.incident, name="incident"),
    path("incidents/<int:pk>/edit/", incidents.edit, name="incident-edit"),
    path("incidents/<int:pk>/tell/", incidents.tell, name="incident-tell"),
    path("incidents/<int:pk>/report/", incidents.report, name="incident-report"),
    path("incidents/<int:pk>/tickets/attach/", tickets.attach, name="tickets-attach"),
    path("incidents/<int:pk>/tickets/<int:ticket>/detach/", tickets.detach, name="ticket-detach"),
    path("incidents/<int:pk>/tickets/answer/", tickets.answer, name="tickets-answer"),
    path("status/", page.page, name="page"),
    path("status/atom.xml", page.atom, name="atom"),
    path("status/calendar.ics", page.calendar, name="calendar"),
    path("status/status.json", page.summary, name="json"),
    path("status/subscribe/", subscriptions.subscribe, name="subscribe"),
    path("status/subscribe/<str:token>/", subscriptions.confirm, name="confirm"),
]
