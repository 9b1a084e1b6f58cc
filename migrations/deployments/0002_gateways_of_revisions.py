from django.db import migrations, models

# Until now no gateway could be renamed, so each name in a revision is the present one.
FILL = """
    UPDATE deployments_revision r SET gateways = known.ids
    FROM (
        SELECT v.id, jsonb_object_agg(g.name, g.id) AS ids FROM deployments_revision v
        JOIN network_gateway g ON g.group_id = v.group_id AND jsonb_exists(v.digests, g.name)
        GROUP BY v.id
    ) known
    WHERE known.id = r.id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="revision",
            name="gateways",
            field=models.JSONField(default=dict),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
