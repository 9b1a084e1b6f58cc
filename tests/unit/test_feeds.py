"""Formats that the feed parser understands, and its report of every line that it does not."""

import time
import tracemalloc
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bans.feed_parser import LONGEST_COMMENT, MOST_BAD, BadLine, FeedEntry, FeedLimits, FeedReader, FeedTooBig, parse_feed
from apps.bans.prefixes import BanFault

EXCERPT = Path(__file__).parent.parent / "data" / "ipsum-excerpt.txt"


def prefixes(text: str | bytes) -> list[str]:
    feed = parse_feed(text)
    assert not feed.bad
    return [str(entry.prefix) for entry in feed.entries]


def fault(line: str) -> tuple[BanFault, str]:
    (bad,) = parse_feed(line).bad
    return bad.fault, bad.offer


def test_an_address_or_a_prefix_per_line_of_both_families() -> None:
    text = "203.0.113.5\n198.51.100.0/24\n2001:db8::1\n2001:DB8:1::/48\n"
    assert prefixes(text) == ["203.0.113.5/32", "198.51.100.0/24", "2001:db8::1/128", "2001:db8:1::/48"]


def test_blank_lines_whole_line_comments_line_ends_and_a_byte_order_mark_are_no_entries() -> None:
    assert prefixes(b"\xef\xbb\xbf# made today\r\n\r\n  ; nor this\r\n203.0.113.5\r\n") == ["203.0.113.5/32"]


def test_text_after_an_entry_becomes_its_comment() -> None:
    feed = parse_feed("192.0.2.0/24 ; SBL123\n203.0.113.5 # scans  ssh\x00 # daily\n")
    assert [(entry.line, entry.comment) for entry in feed.entries] == [(1, "SBL123"), (2, "scans ssh # daily")]


def test_a_count_below_the_minimum_leaves_the_line_out() -> None:
    feed = parse_feed("203.0.113.5\t10\n203.0.113.6 2\n203.0.113.7,3\n", minimum_count=3)
    assert [str(entry.prefix.network_address) for entry in feed.entries] == ["203.0.113.5", "203.0.113.7"]
    assert feed.below == 1


def test_a_line_without_a_count_cannot_be_compared_with_a_minimum() -> None:
    (bad,) = parse_feed("203.0.113.5\n", minimum_count=3).bad
    assert bad.fault is BanFault.NO_COUNT


def test_a_single_column_of_a_spreadsheet_with_its_heading() -> None:
    assert prefixes('"ip_address"\n"203.0.113.5",\n"2001:db8::/32"\n') == ["203.0.113.5/32", "2001:db8::/32"]


def test_a_heading_further_down_is_a_bad_line() -> None:
    assert parse_feed("203.0.113.5\nip\n").bad[0].line == 2


@pytest.mark.parametrize("text", ["203.0.113.4-203.0.113.9", "203.0.113.4 - 203.0.113.9"])
def test_a_range_becomes_the_prefixes_that_make_it_up(text: str) -> None:
    assert prefixes(text) == ["203.0.113.4/30", "203.0.113.8/31"]


def test_an_entry_named_twice_is_counted_and_the_first_stays() -> None:
    feed = parse_feed("203.0.113.5 # first\n203.0.113.5/32 # second\n")
    assert feed.entries == (FeedEntry(1, ip_network("203.0.113.5"), "first"),)
    assert feed.duplicates == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("203.0.113.5/24", (BanFault.HOST_BITS, "203.0.113.0/24")),
        ("2001:db8::5/64", (BanFault.HOST_BITS, "2001:db8::/64")),
        ("0.0.0.0/0", (BanFault.TOO_WIDE, "0.0.0.0/8")),
        ("128.0.0.0/7", (BanFault.TOO_WIDE, "128.0.0.0/8")),
        ("2000::/3", (BanFault.TOO_WIDE, "2000::/16")),
        ("2001:db8::/96", (BanFault.ODD_LENGTH, "2001:db8::/64")),
        ("::ffff:203.0.113.5", (BanFault.MAPPED, "203.0.113.5")),
        ("::ffff:203.0.113.0/120", (BanFault.MAPPED, "203.0.113.0/24")),
        ("::ffff:203.0.113.4/127", (BanFault.MAPPED, "203.0.113.4/31")),
        ("::ffff:203.0.0.0/104", (BanFault.MAPPED, "203.0.0.0/8")),
        ("::ffff:202.0.0.0/103", (BanFault.MAPPED_WIDE, "")),
        ("::ffff:0:0/96", (BanFault.MAPPED_WIDE, "")),
        ("203.0.113.256", (BanFault.NO_PREFIX, "")),
        ("010.0.0.1", (BanFault.NO_PREFIX, "")),
        ("fe80::1%eth0", (BanFault.NO_PREFIX, "")),
        ("evil.example", (BanFault.NO_PREFIX, "")),
        ("203.0.113.9-203.0.113.5", (BanFault.RANGE, "")),
        ("203.0.113.9-2001:db8::", (BanFault.RANGE, "")),
        ("203.0.113.5 203.0.113.6", (BanFault.TRAILING, "")),
        ("203.0.113.5 10 20", (BanFault.TRAILING, "")),
        ("203.0.113.5 ٣", (BanFault.TRAILING, "")),
    ],
)
def test_a_bad_line_says_why_and_what_would_do(line: str, expected: tuple[BanFault, str]) -> None:
    assert fault(line) == expected


def test_all_bad_lines_are_listed_with_their_numbers_and_a_cut_text() -> None:
    feed = parse_feed("\n".join(["nonsense" * 50, "203.0.113.5", "x" * 5000, "<html>"]))
    assert [(bad.line, bad.fault) for bad in feed.bad] == [(1, BanFault.NO_PREFIX), (3, BanFault.TOO_LONG), (4, BanFault.NO_PREFIX)]
    assert all(len(bad.text) <= 80 for bad in feed.bad)


def test_more_than_the_limits_is_refused_as_a_whole() -> None:
    with pytest.raises(FeedTooBig, match="more than 3 lines"):
        parse_feed("\n" * 4, limits=FeedLimits(lines=3))
    with pytest.raises(FeedTooBig, match="more than 10 octets"):
        parse_feed("203.0.113.5", limits=FeedLimits(octets=10))


def test_a_real_feed_has_no_bad_line() -> None:
    feed = parse_feed(EXCERPT.read_bytes())
    assert (len(feed.entries), feed.bad, feed.duplicates) == (1993, (), 0)


@given(st.text(alphabet=st.one_of(st.sampled_from("0123456789./:-#; \t\r\n\"'"), st.characters())))
def test_any_text_is_entries_comments_or_bad_lines(text: str) -> None:
    feed = parse_feed(text)
    lines = [entry.line for entry in feed.entries] + [bad.line for bad in feed.bad]
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)
    assert all(entry.comment.isprintable() and len(entry.comment) <= LONGEST_COMMENT for entry in feed.entries)


@given(st.binary())
def test_any_octets_can_be_read(octets: bytes) -> None:
    parse_feed(octets)


@given(st.sets(st.ip_addresses(), max_size=50))
def test_every_address_written_is_read(addresses: set[IPv4Address | IPv6Address]) -> None:
    addresses = {address for address in addresses if address.version == 4 or address.ipv4_mapped is None}
    assert {entry.prefix for entry in parse_feed("\n".join(map(str, addresses))).entries} == {ip_network(str(each)) for each in addresses}


@pytest.mark.parametrize("line", ["1", "#", ";;;;", "1.2.3.4 - ", "\t\t,, ", "-" * 900, "1.2.3.4 #" + "# " * 400, '"' * 900])
def test_the_time_is_linear_in_the_length(line: str) -> None:
    def seconds(times: int) -> float:
        text = (line + "\n") * times
        before = time.process_time()
        parse_feed(text)
        return time.process_time() - before

    assert min(seconds(4_000) for _ in range(3)) < 12 * min(seconds(1_000) for _ in range(3)) + 0.01


def test_a_line_more_than_the_limit_is_refused_though_no_line_end_stands_behind_it() -> None:
    text = "203.0.113.1\n" * 3
    assert len(parse_feed(text, limits=FeedLimits(lines=3)).entries) == 1
    with pytest.raises(FeedTooBig, match="more than 3 lines"):
        parse_feed(text + "203.0.113.2", limits=FeedLimits(lines=3))


def test_what_is_too_long_is_refused_before_a_line_is_read() -> None:
    reader = FeedReader("nonsense\n" * 4, limits=FeedLimits(lines=3))
    with pytest.raises(FeedTooBig):
        next(iter(reader))
    assert reader.bad_count == 0


@pytest.mark.parametrize("text", ["10.0.0.1-10.0.0.254\n", 'prefix,comment\n10.0.0.1-10.0.0.254,"x"\n', '["10.0.0.1-10.0.0.254"]'])
def test_prefixes_that_a_range_expands_to_count_against_the_limit(text: str) -> None:
    assert len(parse_feed(text, limits=FeedLimits(lines=14)).entries) == 14
    with pytest.raises(FeedTooBig, match="more than 13 entries"):
        parse_feed(text, limits=FeedLimits(lines=13))


def test_of_very_many_bad_lines_the_first_are_kept_and_all_are_counted() -> None:
    feed = parse_feed("nonsense\n" * (MOST_BAD + 5))
    assert (len(feed.bad), feed.bad_count) == (MOST_BAD, MOST_BAD + 5)


@pytest.mark.parametrize(
    "text",
    [
        '["203.0.113.1", "203.0.113.2"',
        '["203.0.113.1", "203.0.113.2',
        '["203.0.113.1" "203.0.113.2"]',
        '["203.0.113.1",, "203.0.113.2"]',
        '["203.0.113.1"] ["203.0.113.2"]',
        '["203.0.113.1", ' + "[" * 100_000,
        '["203.0.113.1", [' + "[]," * 100_000 + "[]]]",
    ],
)
def test_json_that_breaks_off_names_nothing_because_half_a_list_would_lift_the_rest(text: str) -> None:
    feed = parse_feed(text)
    assert (feed.entries, feed.bad_count, feed.bad[0].fault) == ((), 1, BanFault.BROKEN_TABLE)


def test_json_is_read_element_by_element_however_it_is_spaced() -> None:
    text = ' [ "203.0.113.1" ,\n{"prefix": "203.0.113.2", "comment": "' + "x" * 2000 + '"}\n,"203.0.113.3"] \n'
    assert [str(each.prefix) for each in parse_feed(text).entries] == ["203.0.113.1/32", "203.0.113.2/32", "203.0.113.3/32"]
    assert parse_feed("[]").entries == ()


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('203.0.113.1,x\n203.0.113.2,"x\n203.0.113.3,x\n', 3),
        ('203.0.113.1,"x\n203.0.113.2,"x"\n203.0.113.3,x\n', 2),
        ('203.0.113.1,x\n203.0.113.2,"x" y\n', 3),
        ("203.0.113.1,x\n" + "," * 1_000_000, 3),
        ('203.0.113.1,x\n203.0.113.2,"' + "x\n" * 100_000 + '"\n', 3),
    ],
)
def test_csv_that_cannot_be_read_to_its_end_names_nothing_either(rows: str, line: int) -> None:
    feed = parse_feed("prefix,comment\n" + rows)
    assert (feed.entries, feed.bad) == ((), (BadLine(line, "CSV", BanFault.BROKEN_TABLE),))


def test_a_comment_of_csv_in_quotation_marks_may_have_several_lines() -> None:
    feed = parse_feed('prefix,comment\n203.0.113.1,"one, ""two""\nthree"\n\n203.0.113.2\n')
    assert [(each.line, str(each.prefix), each.comment) for each in feed.entries] == [
        (3, "203.0.113.1/32", 'one, "two" three'),
        (5, "203.0.113.2/32", ""),
    ]


def test_reading_a_feed_takes_no_more_memory_than_its_text() -> None:
    content = b"".join(b"10.%d.%d.%d\n" % (at >> 16, (at >> 8) & 255, at & 255) for at in range(40_000))
    tracemalloc.start()
    try:
        number = sum(1 for _entry in FeedReader(content))
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (number, peak < len(content)) == (40_000, True), peak


@pytest.mark.parametrize(
    "text", ["203.0.113.0/0.0.0.255", "203.0.113.0/255.255.255.0", "203.0.113.0/024", "203.0.113.0/", "2001:db8::/+32"]
)
def test_a_length_is_a_plain_number_and_no_mask_whose_meaning_one_could_mistake(text: str) -> None:
    assert [bad.fault for bad in parse_feed(text).bad] == [BanFault.NO_PREFIX]
