"""URLs of gateways and gateway groups."""

from django.urls import path

from apps.gateways import views, views_changes, views_failover, views_groups, views_lifecycle
from apps.gateways.agent_upgrade import views as agent_upgrade
from apps.gateways.evidence import views as evidence
from apps.gateways.health import views as health
from apps.gateways.joining import views as joining
from apps.gateways.roles import views as roles
from apps.gateways.timeouts import views as timeouts

app_name = "gateways"
urlpatterns = [
    path("", views.gateways, name="list"),
    path("add/", views_changes.add, name="add"),
    path("agent/<str:filename>", joining.agent_package, name="agent-package"),
    path("join/", joining.join, name="join"),
    path("joining/<int:pk>/", joining.joining, name="joining"),
    path("joining/<int:pk>/trust/", joining.trust, name="joining-trust"),
    path("joining/<int:pk>/move/", joining.move, name="joining-move"),
    path("joining/<int:pk>/give-up/", joining.give_up, name="joining-give-up"),
    path("undo/<int:event>/", views_changes.undo, name="undo"),
    path("<int:pk>/", views.gateway, name="gateway"),
    path("<int:pk>/health/", health.health, name="health"),
    path("<int:pk>/health/measures.csv", health.health_csv, name="health-csv"),
    path("<int:pk>/timeouts/", timeouts.timeouts, name="timeouts"),
    path("<int:pk>/evidence/", evidence.evidence, name="evidence"),
    path("<int:pk>/evidence/collect/", evidence.collect, name="evidence-collect"),
    path("<int:pk>/evidence/<int:archive>/", evidence.download, name="evidence-download"),
    path("<int:pk>/evidence/<int:archive>/delete/", evidence.delete, name="evidence-delete"),
    path("<int:pk>/primary/<int:family>/", views_changes.primary, name="primary"),
    path("<int:pk>/edit/", views.edit, name="edit"),
    path("<int:pk>/failover/<str:filename>", views_failover.download_file, name="failover-file"),
    path("<int:pk>/failover/install/", roles.install, name="failover-install"),
    path("<int:pk>/switch/<str:kind>/", roles.switch, name="switch"),
    path("<int:pk>/rename/", views_lifecycle.rename, name="rename"),
    path("<int:pk>/replace/", views_lifecycle.replace, name="replace"),
    path("<int:pk>/retire/", views_lifecycle.retire, name="retire"),
    path("<int:pk>/reinstate/", views_lifecycle.reinstate, name="reinstate"),
    path("<int:pk>/remove/", views_lifecycle.remove, name="remove"),
    path("<int:pk>/put-right/", views.redeploy_gateway, name="put-right"),
    path("<int:pk>/count-again/", views.accept_next_reading, name="count-again"),
    path("groups/add/", views_groups.add, name="group-add"),
    path("groups/undo/<int:event>/", views_groups.undo, name="group-undo"),
    path("groups/<int:pk>/", views_groups.group, name="group"),
    path("groups/<int:pk>/remove/", views_groups.remove, name="group-remove"),
    path("groups/<int:pk>/protection/", views.protection, name="protection"),
    path("groups/<int:pk>/limits/", views.limits, name="limits"),
    path("groups/<int:pk>/profile/", views.profile, name="profile"),
    path("groups/<int:pk>/failover/", roles.failover, name="failover"),
    path("groups/<int:pk>/failover/settings/", views_failover.settings, name="failover-settings"),
    path("groups/<int:pk>/failover/stop/", views_failover.stop, name="failover-stop"),
    path("groups/failover/undo/<int:event>/", views_failover.undo, name="failover-undo"),
    path("groups/<int:pk>/agents/", agent_upgrade.agents, name="agents"),
    path("groups/<int:pk>/agents/upgrade/", agent_upgrade.upgrade, name="agents-upgrade"),
    path("groups/<int:pk>/agents/stop/", agent_upgrade.stop, name="agents-stop"),
    path("groups/<int:pk>/flood/", views.flood, name="flood"),
]
