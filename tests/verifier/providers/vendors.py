"""Asks a provider at a stand-in vendor's address, from a test that is not async."""

import asyncio
from typing import Any

from verifier.domain.answers import MediaAnswer, NotAnswered, ScreeningAnswer, ScreeningQuery
from verifier.providers import MediaProvider
from verifier.providers.brightdata import BrightData
from verifier.providers.exa import Exa
from verifier.providers.opensanctions import OpenSanctions
from verifier.providers.tavily import Tavily

MEDIA: dict[str, type[MediaProvider]] = {"tavily": Tavily, "exa": Exa, "brightdata": BrightData}
CASE = "0190b6f2-case"
SECRET = "s3cret-key-of-nobody"
MEDIA_QUERY = '"Acme Trading OÜ" money laundering'
PERSON = ScreeningQuery("Person", {"name": ["Viktor Petrovich Malinovskij"], "birthDate": ["1961-04-07"]})
COMPANY = ScreeningQuery("Company", {"name": ["Nordwind Bakery Oy"], "jurisdiction": ["fi"]})


def point_at(settings: Any, url: str) -> None:
    """Configures all four vendors at one address."""
    for vendor in ("OPENSANCTIONS", "TAVILY", "EXA", "BRIGHTDATA"):
        setattr(settings, f"{vendor}_URL", url)
        setattr(settings, f"{vendor}_API_KEY", SECRET)
    settings.BRIGHTDATA_ZONE = "serp_api1"


def screen(query: ScreeningQuery, *, timeout: float = 10) -> ScreeningAnswer | NotAnswered:
    return asyncio.run(OpenSanctions().screen(query, case_id=CASE, timeout=timeout))


def search(vendor: str, query: str = MEDIA_QUERY, *, timeout: float = 10, limit: int = 20) -> MediaAnswer | NotAnswered:
    asking = MEDIA[vendor]().search(query, limit=limit, case_id=CASE, material_type="criminal", timeout=timeout)
    return asyncio.run(asking)


def ask_any(vendor: str, *, timeout: float = 10) -> ScreeningAnswer | MediaAnswer | NotAnswered:
    return screen(COMPANY, timeout=timeout) if vendor == "opensanctions" else search(vendor, timeout=timeout)
