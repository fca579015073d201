"""One state of a text has one hash, whatever a converter made of its blanks and marks."""

import pytest

from verifier.law.normalise import normalised, sha256_of
from verifier.law.texts import Article, Paragraph, Point


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("EUR\u00a010\u202f000", "EUR 10 000"),
        ("the  Member\nStates", "the Member States"),
        ("co\u00adoperation", "cooperation"),
        ("\ufeffArticle", "Article"),
        ("work.\u2060Deployers", "work. Deployers"),
        ("e\u0301tat", "état"),
        ("‘fit’ and proper", "'fit' and proper"),
    ],
)
def test_the_same_words_have_the_same_hash(one: str, other: str) -> None:
    assert sha256_of(one) == sha256_of(other)


@pytest.mark.parametrize(("one", "other"), [("and", "or"), ("14 days", "15 days"), ("Article 9a", "Article 9")])
def test_other_words_have_another(one: str, other: str) -> None:
    assert sha256_of(one) != sha256_of(other)


def test_what_is_shown_keeps_its_marks_and_loses_only_blanks() -> None:
    assert normalised(" (a)\u00a0‘money\n laundering’;\u00ad ") == "(a) ‘money laundering’;"


def test_a_text_is_its_paragraphs_and_these_their_points() -> None:
    points = (Point("a", "first", (Point("i", "deeper"),)), Point("b", "second"))
    article = Article("18a", (Paragraph("1", "Entities shall:", points), Paragraph("2", "Nothing else.")))
    assert article.text == "1. Entities shall:\n(a) first\n(i) deeper\n(b) second\n2. Nothing else."
    assert article.sha256 == sha256_of(article.text)
    assert article.paragraphs[0].points[0].sha256 == sha256_of("a first i deeper")
