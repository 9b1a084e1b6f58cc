"""URLs of pages that combine several apps."""

from django.urls import path

from apps.desk.first_steps import views as first_steps
from apps.desk.network_settings import views as network_settings
from apps.desk.people_import import views as people_import
from apps.desk.views import (
    addresses_of,
    check,
    dashboard,
    devices_of,
    exports,
    inviting,
    lifecycle,
    live,
    member,
    member_edit,
    members,
    search,
    system,
    why,
)

app_name = "desk"
urlpatterns = [
    path("", dashboard.dashboard, name="dashboard"),
    path("setup/", first_steps.first_steps, name="first-steps"),
    path("setup/mail/", first_steps.send_mail, name="first-steps-mail"),
    path("search", search.search, name="search"),
    path("system/", system.system, name="system"),
    path("system/health/", system.portal_health, name="portal-health"),
    path("settings/", network_settings.settings, name="settings"),
    path("settings/reset/", network_settings.reset, name="settings-reset"),
    path("settings/undo/<int:event>/", network_settings.undo, name="settings-undo"),
    path("exports/", exports.exports, name="exports"),
    path("exports/<str:name>", exports.export, name="export"),
    path("why/", why.trace_packet, name="why"),
    path("why/live/", live.live_trace, name="live"),
    path("why/live/<str:gateway>/<int:number>/", live.live_trace_progress, name="live-seen"),
    path("why/live/<str:gateway>/<int:number>/end/", live.end_live_trace, name="live-end"),
    path("members/", members.members, name="members"),
    path("members.csv", members.members_csv, name="members-csv"),
    path("members/bulk/", members.bulk_action, name="members-bulk"),
    path("members/import/", people_import.upload_people, name="people-import"),
    path("members/import/sample.csv", people_import.download_sample, name="people-sample"),
    path("members/import/<int:pk>/", people_import.review_upload, name="people-check"),
    path("members/add/", member_edit.add, name="member-add"),
    path("members/<int:pk>/", member.member, name="member"),
    path("members/<int:pk>/history/", member.history, name="member-history"),
    path("members/<int:pk>/check/", check.check, name="check"),
    path("members/<int:pk>/edit/", member_edit.edit, name="member-edit"),
    path("members/<int:pk>/activate/", member_edit.activate, name="member-activate"),
    path("members/<int:pk>/invite/", inviting.invite, name="member-invite"),
    path("members/<int:pk>/invitation/withdraw/", inviting.withdraw, name="invitation-withdraw"),
    path("members/<int:pk>/leave/", lifecycle.leave, name="member-leave"),
    path("members/<int:pk>/everything.zip", lifecycle.download_everything, name="member-everything"),
    path("members/<int:pk>/move/", lifecycle.move, name="member-move"),
    path("moves/<int:pk>/drop/", lifecycle.cancel_move, name="move-drop"),
    path("departures/<int:pk>/drop/", lifecycle.cancel_departure, name="departure-drop"),
    path("members/<int:pk>/addresses/", addresses_of.addresses_panel, name="holdings"),
    path("members/<int:pk>/addresses/add/", addresses_of.add, name="holding-add"),
    path("members/<int:pk>/devices/add/", devices_of.add, name="device-add"),
    path("holdings/<int:pk>/release/", addresses_of.release, name="holding-release"),
    path("devices/<int:pk>/edit/", devices_of.edit, name="device-edit"),
    path("devices/<int:pk>/remove/", devices_of.remove, name="device-remove"),
]
