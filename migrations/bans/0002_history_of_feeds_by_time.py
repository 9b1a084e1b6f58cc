"""An index that finds the history of bans without an author by its age, for retention. Events that begin a ban are not in it."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("bans", "0001_initial")]

    operations = [
        migrations.RunSQL(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS ban_event_of_a_feed_by_time ON bans_banevent (pgh_created_at)"
            " WHERE author_id IS NULL AND pgh_label <> 'insert'",
            "DROP INDEX IF EXISTS ban_event_of_a_feed_by_time",
        )
    ]
