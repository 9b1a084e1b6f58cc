"""Names of many rooms: doors on floors, as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.lib.errors import Problem
from apps.members.room_names import LONGEST_NAME, MOST_ROOMS_AT_ONCE, RoomName, build_room_names, parse_doors


@pytest.mark.parametrize(
    ("written", "doors"),
    [
        ("14", ["14"]),
        ("08-11", ["08", "09", "10", "11"]),
        ("9–11", ["9", "10", "11"]),
        ("A1-A3", ["A1", "A2", "A3"]),
        ("A1-3", ["A1", "A2", "A3"]),
        ("01-02, 20; Kitchen\nBoiler  room", ["01", "02", "20", "Kitchen", "Boiler room"]),
        ("214-a", ["214-a"]),
        ("A1-B3", ["A1-B3"]),
        (" , ;", []),
    ],
)
def test_doors_are_names_and_ranges(written: str, doors: list[str]) -> None:
    assert list(parse_doors(written)) == doors


def test_the_floor_begins_the_name_where_that_is_wanted() -> None:
    assert build_room_names(range(2), "01-02", floor_first=True) == [
        RoomName(0, "001"),
        RoomName(0, "002"),
        RoomName(1, "101"),
        RoomName(1, "102"),
    ]
    assert build_room_names([-1], "Cellar", floor_first=False) == [RoomName(-1, "Cellar")]


@pytest.mark.parametrize(
    ("floors", "doors", "field"),
    [
        ([0], "", "doors"),
        ([0], "16-01", "doors"),
        ([0], "1-999999999", "doors"),
        (range(100), "1-100", "doors"),
        ([0], "a" * (LONGEST_NAME + 1), "doors"),
        ([-1, 0], "01", "floor_first"),
    ],
)
def test_an_impossible_list_is_refused_at_its_field(floors: list[int], doors: str, field: str) -> None:
    with pytest.raises(Problem) as refused:
        build_room_names(floors, doors, floor_first=True)
    assert refused.value.fieldname == field
    assert str(refused.value)


@given(first=st.integers(0, 999), number=st.integers(1, 200), floors=st.sets(st.integers(0, 9), min_size=1))
def test_a_range_gives_as_many_rooms_as_numbers_on_every_floor(first: int, number: int, floors: set[int]) -> None:
    rooms = build_room_names(sorted(floors), f"{first:04}-{first + number - 1:04}", floor_first=True)
    assert len(set(rooms)) == len(rooms) == number * len(floors) <= MOST_ROOMS_AT_ONCE
    assert all(room.name == f"{room.floor}{int(room.name[1:]):04}" for room in rooms)


@given(st.text(max_size=60))
def test_any_text_gives_rooms_or_a_sentence(text: str) -> None:
    try:
        rooms = build_room_names([1], text, floor_first=False)
    except Problem as refused:
        assert str(refused)
    else:
        assert rooms
        assert all(0 < len(room.name) <= LONGEST_NAME and room.name == " ".join(room.name.split()) for room in rooms)
