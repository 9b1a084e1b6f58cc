from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("lib", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="keptanswer", name="location", field=models.CharField(blank=True, db_default="", default="", max_length=200)
        ),
    ]
