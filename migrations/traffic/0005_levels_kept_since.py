from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("traffic", "0004_logs_of_former_machines")]

    operations = [
        migrations.AddField(model_name="level", name="kept_since", field=models.DateTimeField(null=True)),
    ]
