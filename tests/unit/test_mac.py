import pytest

from apps.lib.fields import MacField


@pytest.mark.parametrize("text", ["00:00:5e:00:53:1f", "00-00-5E-00-53-1F", "0000.5e00.531f", "00005e00531f", "00 00 5e 00 53 1f"])
def test_a_mac_address_is_read_in_any_usual_spelling(text: str) -> None:
    assert MacField().parse(text) == "00:00:5e:00:53:1f"


@pytest.mark.parametrize(
    "text", ["", "00:00:5e:00:53", "00:00:5e:00:53:1g", "aabb\t\tccddee", "00005e0053\n1", "0000５e00531f", "\u0661" * 12]
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        MacField().parse(text)
