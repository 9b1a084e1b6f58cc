"""What the kernel's counters stood at is kept with the readings (traffic 0003)."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("bans", "0008_guarded_listeners"), ("traffic", "0003_last_counts_of_tallies")]

    operations = [
        migrations.RemoveField("banhits", "counter_packets"),
        migrations.RemoveField("banhits", "counter_octets"),
    ]
