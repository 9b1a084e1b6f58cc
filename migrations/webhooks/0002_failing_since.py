from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_initial")]

    operations = [migrations.AddField(model_name="endpoint", name="failing_since", field=models.DateTimeField(null=True))]
