"""Every text colour on every ground it can stand on, light and dark, by WCAG's own formula."""

import re

import pytest

from tests.paths import PROJECT

PAIR = re.compile(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
TOKENS = {
    name: {"light": light, "dark": dark}
    for name, light, dark in PAIR.findall((PROJECT / "static/css/tokens.css").read_text())
}
GROUNDS = ("paper", "surface", "sunken", "accent-wash")
TEXTS = ("ink", "quiet", "accent", "contradicted", "unsupported", "indeterminate", "problem")
ON = (
    ("on-accent", "accent"),
    ("on-contradicted", "contradicted"),
    ("on-unsupported", "unsupported"),
    ("indeterminate", "indeterminate-wash"),
    ("contradicted", "contradicted-wash"),
    ("unsupported", "unsupported-wash"),
    ("mark-ink", "mark"),
)


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_the_formula_gives_the_known_extremes() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), [(text, ground) for text in TEXTS for ground in GROUNDS] + list(ON))
def test_text_can_be_read_on_its_ground(text: str, ground: str, scheme: str) -> None:
    assert contrast(TOKENS[text][scheme], TOKENS[ground][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_edges_of_fields_and_the_focus_ring_can_be_seen(ground: str, scheme: str) -> None:
    for edge in ("line-strong", "accent"):
        assert contrast(TOKENS[edge][scheme], TOKENS[ground][scheme]) >= 3
