"""Live sources, one room a vendor. Each answers with a value of `domain.answers`: it never raises, never decides."""

from verifier.providers.brightdata import BrightData
from verifier.providers.exa import Exa
from verifier.providers.http import warm_up
from verifier.providers.opensanctions import OpenSanctions
from verifier.providers.tavily import Tavily

__all__ = ["MediaProvider", "media_providers", "screening_provider", "warm_up"]
MediaProvider = Tavily | Exa | BrightData


def screening_provider() -> OpenSanctions | None:
    return OpenSanctions() if OpenSanctions.is_configured() else None


def media_providers() -> list[MediaProvider]:
    """The configured ones; what lacks its key (Bright Data: or its zone) is no provider here."""
    every: tuple[type[MediaProvider], ...] = (Tavily, Exa, BrightData)
    return [room() for room in every if room.is_configured()]
