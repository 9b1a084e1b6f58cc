"""The plan of an import: what a table would change in a network, and which cell of which line is wrong."""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from ipaddress import IPv4Address, ip_address, ip_network

import pytest

from apps.desk.people_import.columns import parse_choices
from apps.desk.people_import.known_network import KnownForward, KnownMember, KnownNetwork, KnownSite, KnownTariff
from apps.desk.people_import.person_row import PersonRowParser
from apps.desk.people_import.plan import ImportPlan, make_plan
from apps.desk.people_import.tables import read_table
from apps.lib.fields import Address
from apps.network.models import Pool

SELIN = KnownMember(1, 2207, "Selin Kaya", "selin@kaya.example", "de", "active", 1, 5, date(2024, 10, 1), date(2027, 3, 31), "", 3)
GONE = KnownMember(2, 2208, "Gone", "gone@away.example", "en", "left", 1, None, date(2020, 1, 1), None, "", 1)
ADDRESS = ip_network("10.64.3.17/32")
PUBLIC = IPv4Address("198.51.100.7")
POOLS = [
    Pool(id=1, kind="private4", name="Inside", prefix=ip_network("10.64.0.0/16"), member_length=32, group_id=1, kept_first=10),
    Pool(id=2, kind="prefix6", name="IPv6", prefix=ip_network("2001:db8::/32"), member_length=64, group_id=1),
]


@dataclass
class FewPlaces:
    """A place finder with one shared public address, for this many members."""

    left: int = 100
    members: list[int] = field(default_factory=list)

    def has_pool(self, group: int, public: Address | None = None) -> bool:
        return public in (None, PUBLIC, ip_address("198.51.100.8"))

    def take(self, member: int, group: int, public: Address | None) -> Address | None:
        self.left -= 1
        return PUBLIC if self.left >= 0 and public in (None, PUBLIC) else None


def know(**changes: object) -> KnownNetwork:
    given = {
        "today": date(2026, 11, 24),
        "default_tariff": 1,
        "members": {each.number: each for each in (SELIN, GONE)},
        "tariffs": {"standard": KnownTariff(1, "Standard"), "old": KnownTariff(2, "Old", offered=False)},
        "sites": [KnownSite(1, "Behrens House", "B"), KnownSite(2, "Annexe", "A")],
        "rooms": {(1, "214"): 5, (1, "215"): 6, (2, "101"): 7},
        "devices": {"00:00:5e:00:53:01": (1, 11)},
        "held": {ADDRESS: 1},
        "publics": {ADDRESS: PUBLIC},
        "forwards": {(PUBLIC, "tcp"): [KnownForward(1, ADDRESS, 443, 8443, 1)]},
        "pools": POOLS,
        "places": FewPlaces(),
    }
    return KnownNetwork(**(given | changes))  # type: ignore[arg-type]  # keyword arguments


def plan(text: str, known: KnownNetwork | None = None, *, create: bool = False) -> ImportPlan:
    table = read_table(text.encode())
    parser = PersonRowParser(table.header, parse_choices(table.header, ()))
    return make_plan(table.rows, parser, known or know(), create_rooms=create)


def list_problems(made: ImportPlan) -> list[tuple[int, str, str]]:
    return [(each.line, each.column, each.text) for each in made.problems]


def test_a_new_member_gets_everything_that_the_line_says() -> None:
    made = plan(
        "Number;Name;E-mail;Room;State;Device;MAC;Address;IPv6;Forwards;Paid until\n"
        "M-3000;Ada Lovelace;ada@x.example;B-215;active;Laptop;00-00-5E-00-53-02;10.64.5.1;2001:db8:0:7::/64;tcp 22 (ssh);31.03.2027\n"
    )
    assert made.problems == []
    [person] = made.people
    assert (person.member, person.number, person.values["name"], person.values["room"]) == (None, 3000, "Ada Lovelace", 6)
    assert (person.values["tariff"], person.values["since"], person.values["paid_until"]) == (1, date(2026, 11, 24), date(2027, 3, 31))
    assert person.holdings.devices == [("Laptop", "00:00:5e:00:53:02")]
    assert [(str(each.prefix), each.mac, each.leaves) for each in person.holdings.addresses] == [
        ("10.64.5.1/32", "00:00:5e:00:53:02", True),
        ("2001:db8:0:7::/64", None, False),
    ]
    assert [(each.wanted.public_port, each.wanted.purpose, each.public) for each in person.holdings.forwards] == [(22, "ssh", PUBLIC)]
    assert made.count()["members_added"] == 1


def test_what_is_there_already_changes_nothing() -> None:
    made = plan(
        "Number;Name;E-mail;Room;State;Tariff;MAC;Address;Public address;Forwards;Since;Paid until\n"
        "2207;Selin Kaya;selin@kaya.example;B 214;active;standard;00:00:5e:00:53:01;10.64.3.17;198.51.100.7;tcp 443 -> 8443;"
        "2024-10-01;2027-03-31\n"
        "2208;Gone;;;left;;;;;;;\n"
    )
    assert (made.problems, made.people, made.unchanged) == ([], [], 2)


def test_empty_cells_say_nothing_and_paid_until_never_moves_back() -> None:
    made = plan("Number;Name;Room;Paid until;Note\n2207;;;2020-01-01;has a key\n")
    assert [person.values for person in made.people] == [{"note": "has a key"}]


def test_a_member_is_recognised_by_the_e_mail_where_there_is_no_number() -> None:
    made = plan("E-mail;Name\nSELIN@kaya.example;Selin Kaya-Weiß\nnew@x.example;New\n")
    assert [(person.member, person.values["name"]) for person in made.people] == [(SELIN, "Selin Kaya-Weiß"), (None, "New")]


@pytest.mark.parametrize("room", ["B-214", "b214", "B 214"])
def test_a_room_is_found_as_people_write_it(room: str) -> None:
    assert plan(f"Number;Name;Room\n3000;Ada;{room}\n").people[0].values["room"] == 5


@pytest.mark.parametrize(("room", "expected"), [("A-11", 8), ("a1-1", 9), ("A 11", 8), ("A1 1", 9)])
def test_a_hyphen_or_a_space_ends_the_code_of_a_house(room: str, expected: int) -> None:
    """Houses A and A1, with the rooms A-11 and A1-1; A is the name of a third one."""
    sites = [KnownSite(3, "A", "B"), KnownSite(1, "Annexe", "A"), KnownSite(2, "Annexe 1", "A1")]
    known = know(sites=sites, rooms={(3, "11"): 7, (1, "11"): 8, (2, "1"): 9})
    assert plan(f"Number;Name;Room\n3000;Ada;{room}\n", known).people[0].values["room"] == expected
    words = "There are several rooms “a11”. Write the house into a column of its own."
    assert list_problems(plan("Number;Name;Room\n3000;Ada;a11\n", known)) == [(2, "Room", words)]


@pytest.mark.parametrize(("house", "room"), [("B", "214"), ("behrens house", "B-214"), ("Behrens House", "214.0")])
def test_a_house_of_its_own_column_is_a_name_or_a_code(house: str, room: str) -> None:
    assert plan(f"Number;Name;House;Room\n3000;Ada;{house};{room}\n").people[0].values["room"] == 5


def test_missing_houses_and_rooms_are_problems_unless_they_shall_be_made() -> None:
    text = "Number;Name;House;Room;Floor\n3000;Ada;B;301;\n3001;Bo;Old Mill;3;1\n3002;Cy;old mill;12;\n3003;Di;B;301;\n"
    refused = list_problems(plan(text))
    assert refused[:2] == [
        (2, "Room", "Behrens House has no room 301. Add it, or let the import create missing houses and rooms."),
        (3, "House", "There is no house “Old Mill”. Add it, or let the import create missing houses and rooms."),
    ]
    made = plan(text, create=True)
    assert made.problems == []
    assert [(site.name, site.code) for site in made.sites.values()] == [("Old Mill", "OM")]
    assert [(room.site, room.floor, room.name) for room in made.rooms.values()] == [
        (1, 3, "301"),
        ("old mill", 1, "3"),
        ("old mill", 0, "12"),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Number;Name\nx;Ada\n", (2, "Number", "“x” is not a member number. Write it like 2207 or M-2207.")),
        ("Number;Name\n3000;\n", (2, "Name", "This member is new, and has no name in this line.")),
        ("Number;Name\n;Ada\n", (2, "", "This line has neither a member number nor an e-mail, so nobody can tell whom it means.")),
        ("Number;Name\n3000;Ada\n3000;Bo\n", (3, "Number", "M-3000 stands in line 2 too.")),
        ("E-mail;Name\na@x.example;A\nA@X.example;B\n", (3, "E-mail", "a@x.example stands in line 2 too.")),
        ("Number;E-mail\n2207;nobody\n", (2, "E-mail", "Enter a valid email address.")),
        ("Number;Room\n2207;A-214\n", (2, "Room", "Annexe has no room 214. Add it, or let the import create missing houses and rooms.")),
        ("Number;House\n2207;B\n", (2, "House", "The room is missing: nobody lives in a house without one.")),
        ("Number;Tariff\n2207;Gold\n", (2, "Tariff", "There is no tariff “Gold”. There are: Standard, Old.")),
        ("Number;Tariff\n2207;Old\n", (2, "Tariff", "The tariff Old is not offered any more. Choose another.")),
        ("Number;State\n2207;left\n", (2, "State", "An import ends no membership. End it on the member’s page, or empty the cell.")),
        ("Number;State\n2207;lost\n", (2, "State", "“lost” is not a state. Write active, pending or left.")),
        ("Number;Paid until\n2207;31.2.2027\n", (2, "Paid until", "“31.2.2027” is not a date. Write it like 2027-03-31 or 31.03.2027.")),
        ("Number;Name\n2207;=CMD()\n", (2, "Name", "This is a formula. Write its result.")),
        (
            "Number;Name\n2207;Se\u202elin\n",
            (2, "Name", "This contains a character that changes the direction of text (U+202E). Leave it out."),
        ),
        ("Number;MAC\n2207;aa\n", (2, "MAC", "“aa” is not a MAC address. Write it like 00:00:5e:00:53:1f.")),
        ("Number;Name;MAC\n3000;A;00005e005301\n", (2, "MAC", "00:00:5e:00:53:01 is a device of M-2207.")),
        ("Number;MAC;MAC 2\n2207;00005e005309;00005e005309\n", (2, "MAC", "00:00:5e:00:53:09 stands in line 2 too.")),
        ("Number;Address\n2207;10.64.3\n", (2, "Address", "“10.64.3” is not an IPv4 address. Write it like 10.64.3.17.")),
        ("Number;Name;IP\n3000;A;10.64.3.17\n", (2, "IP", "10.64.3.17 is held by M-2207.")),
        ("Number;Name;IP\n3000;A;10.64.9.9\n3001;B;10.64.9.9\n", (3, "IP", "10.64.9.9 stands in line 2 too.")),
        ("Number;IP\n2207;192.0.2.1\n", (2, "IP", "192.0.2.1 is in no pool. The pools are: Inside (10.64.0.0/16).")),
        (
            "Number;IP\n2207;10.64.0.5\n",
            (2, "IP", "10.64.0.5 is kept free in the pool Inside (10.64.0.0/16). Choose another, or change the pool."),
        ),
        ("Number;IPv6\n2207;2001:db8:1::/48\n", (2, "IPv6", "Members get a /64 from the pool IPv6 (2001:db8::/32).")),
        (
            "Number;IP;Public IP\n2207;10.64.9.9;198.51.100.8\n",
            (2, "Public IP", "198.51.100.8 has no place for this member. Leave the cell empty, and the next free one is taken."),
        ),
        (
            "Number;Name;Public IP\n3000;A;198.51.100.7\n",
            (2, "Public IP", "A public address needs a private one: write it into this line too."),
        ),
        ("Number;Name;Forwards\n3000;A;tcp 22\n", (2, "Forwards", "A forward needs a private address: write it into this line too.")),
        ("Number;Name;IP;Forwards\n3000;A;10.64.9.9;tcp 443\n", (2, "Forwards", "TCP 443 on 198.51.100.7 is taken by another member.")),
        (
            "Number;Forwards\n2207;tcp 440-450\n",
            (2, "Forwards", "TCP 443 on 198.51.100.7 leads elsewhere already. Change the forward on the member’s page."),
        ),
        (
            "Number;Forwards\n2207;443\n",
            (2, "Forwards", "“443” is not a forward. Write it like tcp 443 → 8443, tcp 22, or udp 6000-6009."),
        ),
        (
            "Number;Room\n2208;B-214\n",
            (2, "Room", "This member has left, and gets no room. Write “active” as the state to bring the member back."),
        ),
    ],
)
def test_each_problem_names_its_line_and_column(text: str, problem: tuple[int, str, str]) -> None:
    assert list_problems(plan(text)) == [problem]


def test_all_problems_of_all_lines_are_found_at_once() -> None:
    made = plan("Number;Name;Room;Paid until\n3000;A;C-1;soon\n3001;;B-999;\n")
    assert [(line, column) for line, column, _text in list_problems(made)] == [(2, "Paid until"), (3, "Name"), (3, "Room")]


def test_a_full_public_pool_is_a_problem_of_the_first_line_that_gets_nothing() -> None:
    made = plan("Number;Name;IP\n3000;A;10.64.9.1\n3001;B;10.64.9.2\n", know(places=FewPlaces(left=1)))
    assert list_problems(made) == [(3, "", "The public pools are full. Add addresses, or let more members share them.")]


def test_a_pool_that_is_out_of_service_gives_no_address() -> None:
    retired = Pool(
        id=1, kind="private4", name="Inside", prefix=ip_network("10.64.0.0/16"), group_id=1, retired=datetime(2026, 11, 1, tzinfo=UTC)
    )
    words = "Inside (10.64.0.0/16) is out of service and gives no more addresses. Choose another pool, or take it back into service."
    assert list_problems(plan("Number;IP\n2207;10.64.9.9\n", know(pools=[retired]))) == [(2, "IP", words)]


def test_a_member_who_comes_back_gets_a_room_again() -> None:
    [person] = plan("Number;State;Room\n2208;active;B-215\n").people
    assert person.values == {"state": "active", "room": 6}


def test_an_erased_member_is_not_changed() -> None:
    known = know(members={2208: replace(GONE, erased_at=datetime(2026, 1, 1, tzinfo=UTC))})
    assert list_problems(plan("Number;Name\n2208;Gone Again\n", known)) == [
        (2, "Number", "The personal data of this member was erased. Add the person as a new member.")
    ]
    assert [line for line, _column, _text in list_problems(plan("Number;Name;MAC\n2208;Gone;00005e005309\n", known))] == [2]
    assert [line for line, _column, _text in list_problems(plan("Number;Name;Room\n2208;Gone;B-214\n", known))] == [2]
    made = plan("Number;Name;State\n2208;Gone;left\n", known)
    assert (made.problems, made.people, made.unchanged) == ([], [], 1)


def test_an_address_that_leaves_as_nothing_stands_beside_the_public_address_of_another() -> None:
    second, other = ip_network("10.64.3.18/32"), "198.51.100.8"
    known = know(held={ADDRESS: 1, second: 1})
    made = plan(f"Number;IP;Public IP\n2207;10.64.3.17 10.64.3.18;{PUBLIC}\n", known)
    assert (made.problems, made.unchanged) == ([], 1)
    words = f"10.64.3.18 leaves as nothing, not as {other}. An import does not change that; do it on the member’s page."
    assert list_problems(plan(f"Number;IP;Public IP\n2207;10.64.3.18;{other}\n", known)) == [(2, "Public IP", words)]


def test_an_apostrophe_before_a_formula_of_our_own_export_is_taken_off() -> None:
    assert plan("Number;Name\n3000;'=Ada\n3001;'Bo\n").people[0].values["name"] == "=Ada"
    assert plan("Number;Name\n3000;'Bo\n").people[0].values["name"] == "'Bo"


def test_a_cell_without_a_header_is_not_dropped_silently() -> None:
    assert list_problems(plan("Number;Name\n3000;Ada;B-214\n")) == [(2, "column 3", "The header has no name for this cell.")]


def test_forwards_have_a_small_syntax_of_their_own() -> None:
    made = plan("Number;Forwards\n2207;'TCP/80→8080, udp 6000–6009 (games, and voice); tcp 22>22'\n".replace("'", '"'))
    got = [each.wanted for each in made.people[0].holdings.forwards]
    assert [(each.protocol, each.public_port, each.private_port, each.ports, each.purpose) for each in got] == [
        ("tcp", 80, 8080, 1, ""),
        ("udp", 6000, 6000, 10, "games, and voice"),
        ("tcp", 22, 22, 1, ""),
    ]
