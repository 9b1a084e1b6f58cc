"""The search finds a ticket by the words of its whole thread: they stand in one row for each ticket, which triggers alone write."""

import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
from django.db import migrations, models

AT_ONCE = 2000  # numbers of tickets whose words are gathered by one statement
MESSAGE, THREAD = 20_000, 200_000  # characters that are read of a message, and of a ticket
GAP = 10  # positions between two messages, so that no phrase goes from one to the next

# The dictionaries read the same words at the same places: each place is used once, and 16,383 words of a ticket have one of their own.
READING = rf"""
CREATE FUNCTION tickets_words_of(said text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $words$
    SELECT COALESCE(
        string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''':' || array_to_string(positions, ','), ' '), ''
    )::tsvector
    FROM (SELECT * FROM unnest(to_tsvector('german', said))
          UNION ALL SELECT * FROM unnest(to_tsvector('english', said))
          UNION ALL SELECT * FROM unnest(to_tsvector('simple', said))) word
$words$;

-- A tsvector has 1 MiB at most: what would make it longer is not found, and the ticket is written all the same.
CREATE FUNCTION tickets_words_and(known tsvector, said text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE AS $words$
BEGIN
    RETURN known || ts_delete('''.'':{GAP}'::tsvector || tickets_words_of(said), '.');
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN known;
END $words$;

CREATE AGGREGATE tickets_words_of_all(text) (SFUNC = tickets_words_and, STYPE = tsvector, INITCOND = '');

CREATE FUNCTION tickets_words_in(ticket bigint, OUT characters bigint, OUT search tsvector) LANGUAGE sql STABLE AS $words$
    SELECT LEAST(sum(length(piece)), {THREAD}), tickets_words_of_all(left(piece, ({THREAD} - before)::int) ORDER BY id)
               FILTER (WHERE before < {THREAD})
    FROM (SELECT id, piece, COALESCE(sum(length(piece)) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
          FROM (SELECT 0 AS id, subject AS piece FROM tickets_ticket WHERE tickets_ticket.id = ticket
                UNION ALL
                SELECT id, left(text, {MESSAGE}) FROM tickets_message WHERE ticket_id = ticket AND text <> '') said) thread
$words$;
"""  # noqa: S608 - the numbers above
WRITING = f"""
CREATE FUNCTION tickets_gather_words(tickets bigint[]) RETURNS void LANGUAGE plpgsql AS $words$
BEGIN
    PERFORM FROM tickets_words WHERE ticket_id = ANY (tickets) ORDER BY ticket_id FOR UPDATE;  -- then what others wrote meanwhile is seen
    UPDATE tickets_words known SET characters = found.characters, search = found.search
    FROM unnest(tickets) asked CROSS JOIN LATERAL tickets_words_in(asked) found WHERE known.ticket_id = asked;
END $words$;

CREATE FUNCTION tickets_words_of_tickets() RETURNS trigger LANGUAGE plpgsql AS $words$
BEGIN
    INSERT INTO tickets_words (ticket_id, characters, search)
    SELECT id, length(subject), tickets_words_and('', subject) FROM added;
    RETURN NULL;
END $words$;

CREATE FUNCTION tickets_words_of_subject() RETURNS trigger LANGUAGE plpgsql AS $words$
BEGIN
    PERFORM tickets_gather_words(ARRAY[NEW.id]);
    RETURN NULL;
END $words$;

CREATE FUNCTION tickets_words_of_messages() RETURNS trigger LANGUAGE plpgsql AS $words$
DECLARE
    message record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR message IN SELECT ticket_id, left(text, {MESSAGE}) AS piece FROM added WHERE text <> '' ORDER BY id LOOP
            UPDATE tickets_words SET characters = LEAST(characters + length(message.piece), {THREAD}),
                search = tickets_words_and(search, left(message.piece, {THREAD} - characters))
            WHERE ticket_id = message.ticket_id AND characters < {THREAD};
        END LOOP;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM tickets_gather_words(ARRAY(SELECT DISTINCT ticket_id FROM removed));
    ELSE
        PERFORM tickets_gather_words(ARRAY(
            SELECT ticket_id FROM (SELECT id, ticket_id, text FROM removed EXCEPT SELECT id, ticket_id, text FROM added) gone
            UNION SELECT ticket_id FROM (SELECT id, ticket_id, text FROM added EXCEPT SELECT id, ticket_id, text FROM removed) come));
    END IF;
    RETURN NULL;
END $words$;

CREATE TRIGGER words_insert AFTER INSERT ON tickets_ticket REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION tickets_words_of_tickets();
CREATE TRIGGER words_update AFTER UPDATE OF subject ON tickets_ticket
    FOR EACH ROW WHEN (OLD.subject IS DISTINCT FROM NEW.subject) EXECUTE FUNCTION tickets_words_of_subject();
CREATE TRIGGER words_insert AFTER INSERT ON tickets_message REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION tickets_words_of_messages();
CREATE TRIGGER words_update AFTER UPDATE ON tickets_message REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION tickets_words_of_messages();
CREATE TRIGGER words_delete AFTER DELETE ON tickets_message REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION tickets_words_of_messages();
"""  # noqa: S608 - the numbers above
FILLING = f"""
DO $words$
DECLARE
    first bigint := (SELECT min(id) FROM tickets_ticket);
    last bigint := (SELECT max(id) FROM tickets_ticket);
BEGIN
    WHILE first <= last LOOP
        INSERT INTO tickets_words (ticket_id, characters, search)
        SELECT ticket.id, found.characters, found.search
        FROM tickets_ticket ticket CROSS JOIN LATERAL tickets_words_in(ticket.id) found
        WHERE ticket.id >= first AND ticket.id < first + {AT_ONCE};
        first := first + {AT_ONCE};
    END LOOP;
END $words$;
"""  # noqa: S608 - the numbers above
NO_READING = """
DROP FUNCTION tickets_words_in;
DROP AGGREGATE tickets_words_of_all(text);
DROP FUNCTION tickets_words_and, tickets_words_of;
"""
NO_WRITING = """
DROP FUNCTION tickets_words_of_tickets, tickets_words_of_subject, tickets_words_of_messages CASCADE;
DROP FUNCTION tickets_gather_words;
"""


class Migration(migrations.Migration):
    dependencies = [("tickets", "0004_counted_by_day_and_week")]

    operations = [
        migrations.CreateModel(
            name="Words",
            fields=[
                (
                    "ticket",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to="tickets.ticket"
                    ),
                ),
                ("characters", models.PositiveIntegerField()),
                ("search", django.contrib.postgres.search.SearchVectorField()),
            ],
        ),
        migrations.RunSQL(READING, NO_READING),
        migrations.RunSQL(FILLING, ""),
        migrations.AddIndex("words", django.contrib.postgres.indexes.GinIndex(fields=["search"], name="ticket_words")),
        migrations.RunSQL(WRITING, NO_WRITING),
        migrations.RemoveIndex("message", "ticket_message_search"),
        migrations.RemoveField("message", "search"),
        migrations.RemoveIndex("ticket", "ticket_search"),
        migrations.RemoveField("ticket", "search"),
    ]
