"""The corpus of law: acts with their texts, an article with its other states, and what was handed in."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reviews import law
from reviews.permissions import check_can_view_cases
from reviews.views.common import person
from verifier.models import LawArticle, LawText


@require_safe
def acts(request: HttpRequest) -> HttpResponse:
    check_can_view_cases(person(request))
    search = request.GET.get("q", "").replace("\0", "").strip()[:200]
    context = {
        "instruments": law.instruments(),
        "imports": law.imports(),
        "search": search,
        "found": law.search(search) if search else [],
        "most": law.FOUND,
    }
    return render(request, "law/acts.html", context)


@require_safe
def text(request: HttpRequest, text_id: UUID) -> HttpResponse:
    check_can_view_cases(person(request))
    shown = get_object_or_404(LawText.objects.select_related("source").defer("source__content"), id=text_id)
    asked = request.GET.get("page", "")
    pages = max(1, -(-shown.article_count // law.PAGE))
    number = min(max(int(asked), 1), pages) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 1
    articles = shown.articles.defer("text", "parts").order_by("position")[(number - 1) * law.PAGE : number * law.PAGE]
    here = reverse("law_text", args=[shown.id])
    context = {
        "text": shown,
        "articles": articles,
        "part": number,
        "parts": pages,
        "previous": f"{here}?page={number - 1}" if number > 1 else "",
        "next": f"{here}?page={number + 1}" if number < pages else "",
    }
    return render(request, "law/text.html", context)


@require_safe
def article(request: HttpRequest, article_id: int) -> HttpResponse:
    """With `than`, beside another state of it."""
    check_can_view_cases(person(request))
    shown = get_object_or_404(
        LawArticle.objects.select_related("law__source").defer("law__source__content"), id=article_id
    )
    states = law.states_of(shown)
    than = next((state for state in states if str(state.id) == request.GET.get("than", "")), None)
    context = {
        "article": shown,
        "states": states,
        "than": than,
        "pieces": law.difference(than.text, shown.text) if than else [],
    }
    return render(request, "law/article.html", context)
