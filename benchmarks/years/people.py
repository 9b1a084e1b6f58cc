"""Members who move in and out, with devices, addresses, forwards, accounts and the history of all that."""

from typing import Final

from benchmarks.years import rates
from benchmarks.years.month import SimulatedMonth

ACCOUNTS: Final = 1_000  # id of a member's account minus that of the member
NEW: Final = "id BETWEEN %(first)s AND %(last)s"
MEMBERS: Final = """
    INSERT INTO accounts_user (id, password, username, first_name, last_name, email, is_active, date_joined, language, roles)
        SELECT %(accounts)s + id, repeat('x', 88), 'member' || id, '', '', 'm' || id || '@example.org', true, {at}, 'en', '{member}'
        FROM (SELECT n, %(first)s + n - 1 AS id FROM generate_series(1, %(count)s) n) made;
    INSERT INTO account_emailaddress (email, verified, "primary", user_id)
        SELECT 'm' || id || '@example.org', true, true, %(accounts)s + id FROM generate_series(%(first)s, %(last)s) id;
    INSERT INTO members_member (id, version, number, name, email, language, state, user_id, tariff_id, since, note)
        SELECT id, 1, id, 'Member ' || id, 'm' || id || '@example.org', 'en', 'active', %(accounts)s + id, 1, ({at})::date, ''
        FROM (SELECT n, %(first)s + n - 1 AS id FROM generate_series(1, %(count)s) n) made;
    INSERT INTO members_membership (member_id, valid) SELECT %(first)s + n - 1, tstzrange({at}, NULL) FROM generate_series(1, %(count)s) n;
    INSERT INTO members_device (id, member_id, name, mac)
        SELECT id * %(devices)s + d, id, 'Laptop', ('02' || lpad(to_hex(id * %(devices)s + d), 10, '0'))::macaddr
        FROM generate_series(%(first)s, %(last)s) id, generate_series(0, %(devices)s - 1) d;
"""
ADDRESSES: Final = """
    INSERT INTO network_holding (id, member_id, pool_id, group_id, kind, pool_prefix, prefix, valid)
        SELECT 2 * id, id, 1, 1, 'private4', '10.0.0.0/8', ('10.0.0.0'::inet + id)::cidr, tstzrange({at}, NULL)
        FROM (SELECT n, %(first)s + n - 1 AS id FROM generate_series(1, %(count)s) n) made;
    INSERT INTO network_holding (id, member_id, pool_id, group_id, kind, pool_prefix, prefix, valid)
        SELECT 2 * id + 1, id, 3, 1, 'prefix6', '2001:db8::/32',
            ('2001:db8:' || to_hex(id / 65536) || ':' || to_hex(id %% 65536) || '::/64')::cidr, tstzrange({at}, NULL)
        FROM (SELECT n, %(first)s + n - 1 AS id FROM generate_series(1, %(count)s) n) made;
    INSERT INTO nat_natmapping (id, version, holding_id, group_id, kind, held, pool_id, pool_kind, pool_prefix, public, valid)
        SELECT id, 1, id, 1, 'private4', valid, 2, 'public4', '198.18.0.0/15', '198.18.0.0'::inet + member_id %% 256, valid
        FROM network_holding WHERE kind = 'private4' AND member_id BETWEEN %(first)s AND %(last)s;
    INSERT INTO nat_portforward (id, version, holding_id, group_id, kind, held, pool_id, pool_kind, pool_prefix, public, valid, protocol,
            public_port, private_port, purpose, enabled)
        SELECT id * %(forwards)s + n, 1, id, 1, 'private4', valid, 2, 'public4', '198.18.0.0/15', '198.18.0.0'::inet + member_id %% 256,
            valid, 'tcp', 1024 + member_id / 256 * %(forwards)s + n, 443, 'home server', true
        FROM network_holding, generate_series(0, %(forwards)s - 1) n
        WHERE kind = 'private4' AND member_id BETWEEN %(first)s AND %(last)s AND member_id %% 100 < 100 * %(with_forwards)s;
"""
LEAVE: Final = """
    UPDATE members_member SET state = 'left', version = version + 1, left_at = %(begin)s
    WHERE id IN (SELECT id FROM members_member WHERE state = 'active' ORDER BY id LIMIT %(count)s)
"""
RELEASE: Final = """
    UPDATE {table} SET valid = tstzrange(lower(valid), %(begin)s) WHERE upper_inf(valid) AND id IN (
        SELECT t.id FROM {table} t JOIN {through} WHERE left_at <= %(begin)s::timestamptz - %(hold)s * interval '1 day')
"""
HOLDERS: Final = "network_holding h ON h.id = t.holding_id JOIN members_member m ON m.id = h.member_id"
ERASE: Final = """
    UPDATE members_member SET name = 'Former member', email = '', erased_at = %(begin)s
    WHERE erased_at IS NULL AND left_at <= %(begin)s::timestamptz - %(erase)s * interval '1 day'
"""
SIGN_INS: Final = """
    INSERT INTO django_session (session_key, session_data, expire_date)
        SELECT md5({at}::text || n), repeat('x', 300), {at} + interval '14 days' FROM generate_series(1, %(count)s) n;
    INSERT INTO usersessions_usersession (created_at, ip, last_seen_at, session_key, user_agent, data, user_id)
        SELECT {at}, '10.0.0.1', {at}, md5({at}::text || n), repeat('x', 100), '{}', %(accounts)s + %(oldest)s + n %% %(members)s
        FROM generate_series(1, %(count)s) n
"""
LIMITS: Final = """
    INSERT INTO traffic_ratelimit (version, down_kbit, reason, note, valid, member_id)
        SELECT 1, 1024, 'quota', '', tstzrange({at}, {at} + interval '5 days'), %(oldest)s + n * 7 %% %(members)s
        FROM generate_series(1, %(count)s) n
"""
BLOCKS: Final = """
    INSERT INTO bans_block (version, reason, message, note, valid, author_id, member_id)
        SELECT 1, 'abuse', left(%(words)s, 150), '', tstzrange({at}, {at} + interval '3 days'), %(admin)s,
            %(oldest)s + n * 11 %% %(members)s
        FROM generate_series(1, %(count)s) n
"""


def write_people(month: SimulatedMonth) -> None:
    """Write who moves out and in, and what members do with their accounts. The first month brings everybody."""
    oldest, last = compute_oldest_number(month), compute_last_number(month.members, month.number + 1)
    if month.number:
        movers = _count_movers(month.members)
        _move_out(month)
        _move_in(month, last - movers + 1, movers)
    else:
        _move_in(month, 1, month.members)
    given = {"oldest": oldest, "members": month.members, "accounts": ACCOUNTS}
    month.write(SIGN_INS, rates.SIGN_INS * month.members, **given)
    for table, query, share in (("traffic_ratelimit", LIMITS, rates.LIMITED), ("bans_block", BLOCKS, rates.BLOCKED)):
        month.write(query, share * month.members, **given)
        month.record(table, "insert", at="lower(valid)", where="lower(valid) >= %(begin)s")


def compute_oldest_number(month: SimulatedMonth) -> int:
    """Return the number of the member who has lived there longest after this month's moves."""
    return 1 + month.number * _count_movers(month.members)


def compute_last_number(members: int, months: int) -> int:
    """Return the number of the member who moved in last in so many months."""
    return members + (months - 1) * _count_movers(members)


def _count_movers(members: int) -> int:
    """Return how many move out in a month, and as many in."""
    return max(round(members * rates.TURNOVER / 12), 1)


def _move_in(month: SimulatedMonth, first: int, count: int) -> None:
    last = first + count - 1
    given = {"first": first, "last": last, "accounts": ACCOUNTS, "devices": rates.DEVICES}
    month.write(MEMBERS, count, **given)
    month.write(ADDRESSES, count, **given, forwards=rates.FORWARDS, with_forwards=rates.WITH_FORWARDS)
    month.record("accounts_user", "insert", at="date_joined", where="id - %(accounts)s BETWEEN %(first)s AND %(last)s", **given)
    for table in ("members_member", "members_device"):
        owner = "member_id" if table == "members_device" else "id"
        month.record(table, "insert", at="%(begin)s::timestamptz", where=f"{owner} BETWEEN %(first)s AND %(last)s", **given)
    for table in ("network_holding", "nat_natmapping", "nat_portforward"):
        month.record(table, "insert", at="lower(valid)", where="lower(valid) >= %(begin)s")


def _move_out(month: SimulatedMonth) -> None:
    """End memberships now and addresses after a while, and erase who left long ago."""
    month.write(LEAVE, _count_movers(month.members))
    month.write("UPDATE members_membership SET valid = tstzrange(lower(valid), %(begin)s) WHERE upper_inf(valid) AND member_id IN"
                " (SELECT id FROM members_member WHERE left_at = %(begin)s)")  # fmt: skip
    month.record("members_member", "update", at="left_at", where="left_at = %(begin)s")
    for table in ("nat_portforward", "nat_natmapping", "network_holding"):
        through = "members_member m ON m.id = t.member_id" if table == "network_holding" else HOLDERS
        month.write(RELEASE.format(table=table, through=through), hold=rates.HOLD_DAYS)
        month.record(table, "update", at="upper(valid)", where="upper(valid) = %(begin)s")
    month.write("UPDATE nat_natmapping n SET held = h.valid FROM network_holding h WHERE h.id = n.holding_id AND n.held <> h.valid")
    month.write("UPDATE nat_portforward n SET held = h.valid FROM network_holding h WHERE h.id = n.holding_id AND n.held <> h.valid")
    if month.write(ERASE, erase=rates.ERASE_DAYS):
        month.record("members_member", "update", at="erased_at", where="erased_at = %(begin)s")
