import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.domain.dates import read_date


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1961-04-07", "1961-04-07"),
        ("1961-4-7", "1961-04-07"),
        ("1961-04-07T00:00:00Z", "1961-04-07"),
        ("1961/04/07", "1961-04-07"),
        ("1961.04.07", "1961-04-07"),
        ("19610407", "1961-04-07"),
        ("07.04.1961", "1961-04-07"),
        ("7. 4. 1961", "1961-04-07"),
        ("7 April 1961", "1961-04-07"),
        ("7th of April 1961", "1961-04-07"),
        ("07-Apr-1961", "1961-04-07"),
        ("April 7, 1961", "1961-04-07"),
        (" Sept. 7th, 1961 ", "1961-09-07"),
        ("31/12/1984", "1984-12-31"),
        ("12/31/1984", "1984-12-31"),
        ("05/05/1980", "1980-05-05"),
        ("29.02.1960", "1960-02-29"),
        ("1961-04", "1961-04"),
        ("04/1961", "1961-04"),
        ("April 1961", "1961-04"),
        ("1961", "1961"),
    ],
)
def test_a_date_is_read(text: str, value: str) -> None:
    date = read_date(text)
    assert (date.value, date.note) == (value, "")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("02/01/1984", "1984"),
        ("02-01-1984", "1984"),
        ("circa 1961", "1961"),
        ("c. 1961", "1961"),
        ("about 1961", "1961"),
        ("1961-02-30", "1961"),
        ("30.02.1961", "1961"),
        ("1961-00-00", "1961"),
        ("1961-13", "1961"),
        ("7 Foo 1961", "1961"),
        ("spring of 1961", "1961"),
        ("1961 or 1962", ""),
        ("07.04.61", ""),
        ("0001-01-01", ""),
        ("9999", ""),
        ("unknown", ""),
    ],
)
def test_what_cannot_be_read_in_full_is_noted(text: str, value: str) -> None:
    date = read_date(text)
    assert date.value == value
    assert date.note.endswith(".")


@given(st.text(max_size=20) | st.from_regex(r"[0-9./ -]{1,12}", fullmatch=True))
def test_any_text_gives_a_date_or_a_note(text: str) -> None:
    date = read_date(text)
    assert date.value or date.note
