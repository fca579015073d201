"""What the three adverse-media rooms share: bounded items, and what a refusal inside HTTP 200 looks like."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from verifier.domain.answers import Cause, MediaAnswer, MediaItem
from verifier.providers.http import Unanswered
from verifier.providers.text import bounded

TEXT_CHARACTERS = 4000  # the judge's whole window: one item never needs more
TITLE_CHARACTERS = 500
QUOTA_WORDS = ("usage limit", "rate limit", "rate_limit", "quota", "credit", "budget")
FINISHED = tuple(".!?;:\"'”»)]。！？")


class Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)


ModelT = TypeVar("ModelT", bound=Model)


def read_results(raw: Iterable[object], model: type[ModelT]) -> list[ModelT]:
    """Every result by its strict model. One that can't be read makes the answer unusable: it might be the evidence."""
    try:
        return [model.model_validate(one) for one in raw]
    except ValidationError:
        raise Unanswered("a result is not as documented") from None


def item(
    *, provider: str, url: str, title: str, text: str, published: str, cut: bool = False, title_only: bool = False
) -> MediaItem:
    return MediaItem(
        provider=provider,
        url=url,
        title=bounded(title.strip(), TITLE_CHARACTERS),
        text=bounded(text.strip(), TEXT_CHARACTERS),
        published=bounded(published, 60),
        cut=cut or len(text.strip()) > TEXT_CHARACTERS,
        title_only=title_only,
    )


def media_answer(
    *, provider: str, items: list[MediaItem], query: str, limit: int, simulated: bool, notes: tuple[str, ...] = ()
) -> MediaAnswer:
    """Results without a word of text are not "nothing found"."""
    told = [one for one in items if one.title or one.text]
    if items and not told:
        raise Unanswered("the results hold no text")
    return MediaAnswer(provider, tuple(told[:limit]), query, notes, simulated)


def ends_in_mid_sentence(text: str) -> bool:
    text = text.strip()
    return bool(text) and (not text.endswith(FINISHED) or text.endswith("..."))


def refuse_error_body(answer: Mapping[str, Any], key: str) -> None:
    """HTTP 200 with an error in place of the list, or beside an empty one, which then says nothing either. Its text
    names the cause to us and goes no further.
    """
    if answer.get(key, ()) not in ((), []):
        return
    error = answer.get("detail", answer.get("error"))
    words = f"{error} {answer.get('tag', '')}".lower()
    if (error or answer.get("tag")) and any(word in words for word in QUOTA_WORDS):
        raise Unanswered("an error inside HTTP 200: quota or rate limit", Cause.QUOTA)
    if error or answer.get("tag"):
        raise Unanswered("an error inside HTTP 200")
