from django.db import migrations


class Migration(migrations.Migration):
    """Tokens grow with every claim, across all workers and for ever: gateways refuse lower ones."""

    dependencies = [("deployments", "0001_revisions_and_rollouts")]
    operations = [migrations.RunSQL("CREATE SEQUENCE deployments_token", "DROP SEQUENCE deployments_token")]
