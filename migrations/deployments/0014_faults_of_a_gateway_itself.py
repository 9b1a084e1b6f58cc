from django.db import migrations, models
from django.db.models import Q

STATES = {
    "waiting": "waiting",
    "sending": "sending",
    "probing": "probing",
    "confirming": "confirming",
    "reverting": "going back",
    "asking": "asking",
    "confirmed": "confirmed",
    "refused": "refused",
    "away": "away",
    "went_back": "went back",
    "lost": "lost",
    "impaired": "impaired",
    "skipped": "skipped",
}


class Migration(migrations.Migration):
    """A step may end with a fault of the gateway itself; what its agent says of its disk; and what drift there was before."""

    dependencies = [("deployments", "0013_what_a_gateway_is_doing")]
    operations = [
        migrations.AddField("rolloutstep", "reason", models.CharField(blank=True, default="", max_length=10)),
        migrations.AlterField("rolloutstep", "state", models.CharField(choices=list(STATES.items()), default="waiting", max_length=10)),
        migrations.RemoveConstraint("rolloutstep", "rolloutstep_state_is_known"),
        migrations.AddConstraint(
            "rolloutstep", models.CheckConstraint(condition=Q(state__in=list(STATES)), name="rolloutstep_state_is_known")
        ),
        migrations.AddField("gatewaystate", "disk", models.TextField(blank=True, default="")),
        migrations.AddField("gatewaystate", "agent", models.CharField(blank=True, default="", max_length=40)),
        migrations.AddField("gatewaystate", "drifted_before", models.JSONField(default=list)),
    ]
