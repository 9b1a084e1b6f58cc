"""URLs of rollouts, held-back parts and revisions."""

from django.urls import path

from apps.deployments.views import plan, restored, revisions, rollouts, running, waiting

app_name = "deployments"
urlpatterns = [
    path("", rollouts.rollouts, name="rollouts"),
    path("running/", running.running, name="running"),
    path("deploy/", rollouts.deploy, name="deploy"),
    path("restored/", restored.restored_database, name="restored"),
    path("groups/<int:pk>/plan/", plan.plan, name="plan"),
    path("<int:pk>/", rollouts.rollout, name="rollout"),
    path("<int:pk>/now/", rollouts.rollout_live_part, name="rollout_now"),
    path("<int:pk>/again/", rollouts.retry, name="again"),
    path("<int:pk>/delta/", rollouts.delta, name="delta"),
    path("<int:pk>/stop/", rollouts.stop, name="stop"),
    path("<int:pk>/pause/", rollouts.pause, name="pause"),
    path("<int:pk>/resume/", rollouts.resume, name="resume"),
    path("waiting/", waiting.waiting_list, name="waiting"),
    path("waiting/<int:pk>/", waiting.held_back_part, name="held"),
    path("waiting/<int:pk>/approve/", waiting.approve, name="approve"),
    path("waiting/<int:pk>/refuse/", waiting.refuse, name="refuse"),
    path("waiting/<int:pk>/text/", waiting.text, name="held-text"),
    path("revisions/", revisions.revision_list, name="revisions"),
    path("revisions/compare", revisions.compare, name="compare"),
    path("revisions/compare/text", revisions.compare_text, name="compare-text"),
    path("revisions/<int:pk>/", revisions.revision, name="revision"),
    path("revisions/<int:pk>/back/", revisions.roll_back_to_revision, name="back"),
    path("groups/<int:pk>/release/", revisions.release_group, name="release"),
]
