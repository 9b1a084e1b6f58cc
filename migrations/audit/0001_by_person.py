from django.db import migrations


class Migration(migrations.Migration):
    """Find what a person did: the middleware notes in each event's context who was signed in."""

    initial = True
    dependencies = [("pghistory", "0007_auto_20250421_0444")]
    operations = [
        migrations.RunSQL(
            "CREATE INDEX audit_context_by_user ON pghistory_context ((metadata -> 'user'))",
            "DROP INDEX audit_context_by_user",
        )
    ]
