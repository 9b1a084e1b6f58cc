"""Tickets with their messages and attachments, mails in both directions, and announcements."""

from typing import Final

from benchmarks.years import rates
from benchmarks.years.month import BLOB, SimulatedMonth

TICKETS: Final = """
    INSERT INTO tickets_ticket (version, subject, member_id, address, language, state, priority, tags, opened_at, touched_at,
            first_answered_at)
        SELECT 3, substr(%(words)s, 1 + n %% 90, 60), m.id, '', 'en', 'solved', 2, '{}', {at}, {at} + interval '2 hours',
            {at} + interval '1 hour'
        FROM (SELECT n, %(oldest)s + n * 13 %% %(members)s AS id FROM generate_series(1, %(count)s) n) chosen
        JOIN members_member m USING (id)
"""
NEW: Final = "opened_at >= %(begin)s"
MESSAGES: Final = f"""
    INSERT INTO tickets_message (ticket_id, kind, sender, text, at, via, verified, author_id)
        SELECT t.id, CASE WHEN n %% 2 = 1 THEN 'member' ELSE 'answer' END, 'Member', substr(%(words)s, 1 + n * 40, 500),
            t.opened_at + n * interval '30 minutes', 'web', true, %(admin)s
        FROM tickets_ticket t, generate_series(1, %(messages)s) n WHERE {NEW};
    INSERT INTO tickets_words SELECT t.id, found.* FROM tickets_ticket t, tickets_words_in(t.id) found WHERE {NEW}
"""  # noqa: S608 - constants
ATTACHMENTS: Final = f"""
    WITH made AS (
        INSERT INTO tickets_attachment (name, size, message_id)
            SELECT 'screen.png', %(octets)s, min(m.id) FROM tickets_ticket t JOIN tickets_message m ON m.ticket_id = t.id
            WHERE {NEW} GROUP BY t.id ORDER BY t.id LIMIT %(count)s
        RETURNING id
    )
    INSERT INTO tickets_content (attachment_id, octets) SELECT id, substr(%(blob)s::bytea, 1 + (id %% 10000)::int, %(octets)s) FROM made
"""  # noqa: S608 - constants
MAILS: Final = """
    INSERT INTO mail_message ("to", language, template, notice, urgent, confidential, automatic, subject, text, html, sender, reply_to,
            message_id, in_reply_to, "references", unsubscribe, about_type, about_id, key, written, state, tries, due, error, ended, reason)
        SELECT 'm' || id || '@example.org', 'en', 'ticket_answer', '', false, false, true, left(%(words)s, 60), left(%(words)s, %(text)s),
            left(%(words)s, %(html)s), 'portal@example.org', '', '<' || md5({at}::text || n) || '@example.org>', '', '', '',
            'members.member', id,
            'message ' || md5({at}::text || n), {at}, 'sent', 1, {at}, '', {at}, ''
        FROM (SELECT n, %(oldest)s + n %% %(members)s AS id FROM generate_series(1, %(count)s) n) chosen
"""
ARRIVALS: Final = """
    INSERT INTO inbound_arrival (arrived, way, sender, recipients, octets, size, sha256, message_id, times, state, tries, ended, reason,
            detail)
        SELECT {at}, 'pipe', 'm' || n || '@example.org', '{support@example.org}', left(%(words)s, %(octets)s)::bytea, %(octets)s,
            decode(repeat(md5({at}::text || n), 2), 'hex'), '<' || md5({at}::text || n) || '@example.net>', 1, 'taken', 1, {at}, '', ''
        FROM generate_series(1, %(count)s) n
"""
ANNOUNCEMENTS: Final = """
    WITH made AS (
        INSERT INTO announcements_announcement (version, title_en, title_de, text_en, text_de, narrowed_by, audience, shown_from,
                shown_until, by_mail, state, reached, created, published, author_id)
            SELECT 2, 'Maintenance', '', left(%(words)s, 800), '', '{}', '', {at}, {at} + interval '14 days', false, 'published',
                %(members)s, {at}, {at}, %(admin)s
            FROM generate_series(1, %(count)s) n
        RETURNING id, published
    )
    INSERT INTO announcements_announcementrecipient (since, delivery, announcement_id, member_id)
        SELECT made.published, 'page', made.id, m.id FROM made, members_member m WHERE m.state = 'active'
"""


def write_letters(month: SimulatedMonth, oldest: int) -> None:
    """Write a month's tickets, mails and announcements. oldest: number of the member who has lived there longest."""
    given = {"oldest": oldest, "members": month.members}
    month.write(TICKETS, rates.TICKETS / 12 * month.members, **given)
    month.write(MESSAGES, messages=rates.MESSAGES)
    for label, at in (("insert", "opened_at"), ("update", "first_answered_at"), ("update", "touched_at")):
        month.record("tickets_ticket", label, at=at, where=NEW)
    month.write(ATTACHMENTS, rates.TICKETS / 12 * month.members * rates.WITH_ATTACHMENT, blob=BLOB, octets=rates.ATTACHMENT)
    month.write(MAILS, rates.MAILS * month.members, **given, text=rates.MAIL_TEXT, html=rates.MAIL_HTML)
    month.write(ARRIVALS, rates.ARRIVALS * month.members, octets=rates.ARRIVAL)
    month.write(ANNOUNCEMENTS, rates.ANNOUNCEMENTS, **given)
