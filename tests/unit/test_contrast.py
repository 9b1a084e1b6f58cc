"""Contrast ratios that LOOK promises, computed from the tokens in the style sheet (WCAG 2.2, contrast ratio)."""

import re
from pathlib import Path

import pytest

TOKENS = Path(__file__).parents[2] / "static" / "netzwart" / "tokens.css"
PAIR = re.compile(r"--nw-([\w-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)")
COLOURS = {name: (light, dark) for name, light, dark in PAIR.findall(TOKENS.read_text())}
KINDS = ("accent", "ok", "wait", "warn", "bad")


def luminance(colour: str) -> float:
    channels = (int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4))
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(front: str, back: str, theme: int) -> float:
    brighter, darker = sorted((luminance(COLOURS[front][theme]), luminance(COLOURS[back][theme])), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


NEEDS = [
    *((text, ground, 4.5) for text in ("ink", "ink-2", "ink-3", *KINDS) for ground in ("surface", "canvas")),
    *((text, "sunken", 4.5) for text in ("ink", "ink-2")),
    *((kind, f"{kind}-soft", 5.5) for kind in KINDS),
    *(("ink-2", f"{kind}-soft", 4.5) for kind in KINDS),
    ("on-accent", "accent", 7.0),
    ("on-accent", "wait", 7.0),
    ("field", "surface", 3.0),
    ("chart-a", "surface", 4.5),
    ("chart-b", "surface", 4.5),
    ("meter", "track", 3.0),
    ("meter", "surface", 3.0),
]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "back", "least"), NEEDS)
def test_every_pair_can_be_read(front: str, back: str, least: float, theme: int) -> None:
    assert ratio(front, back, theme) >= least


def test_the_reference_ratios_are_computed_as_published() -> None:
    assert ratio("ink", "surface", 0) == pytest.approx(17.1, abs=0.05)
    assert ratio("accent", "surface", 1) == pytest.approx(8.0, abs=0.05)


def test_every_colour_stands_in_the_tokens_and_nowhere_else() -> None:
    for sheet in TOKENS.parent.glob("*.css"):
        if sheet.name in ("page.css", "parts.css"):
            bare = re.sub(r"url\([^)]*\)", "", sheet.read_text())
            assert not re.findall(r"#[0-9a-f]{3,8}\b", bare), sheet.name
