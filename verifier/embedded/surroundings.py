"""The environment the embedded product's processes get: its own services, and stand-ins for absent vendors."""

from collections.abc import Mapping

MEDIA = ("TAVILY", "EXA", "BRIGHTDATA")
DARK_SWITCHES = ("FINDING_CORRECTNESS_VERIFICATION_ENABLED", "FINDING_CORROBORATION_ENABLED")
OUR_NAMES = (
    "DATABASE_URL",
    "DATABASE_OWNER_URL",
    "DATABASE_AS_OWNER",
    "REDIS_URL",
    "SECRET_KEY",
    "DATA_DIR",
    "STATIC_ROOT",
)
STAND_IN_KEY = "stand-in"


def product_environment(callers: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment with the embedded services in place of any others it names."""
    kept = {name: value for name, value in callers.items() if name not in OUR_NAMES}
    return {**kept, "PYTHONUNBUFFERED": "1", "DJANGO_SETTINGS_MODULE": "verifier.settings", **own}


def ignored_addresses(callers: Mapping[str, str]) -> list[str]:
    return [name for name in ("DATABASE_URL", "REDIS_URL") if callers.get(name)]


def switched_on(callers: Mapping[str, str]) -> dict[str, str]:
    """The demo shows what the switches do, unless the environment has its own word."""
    return {name: "true" for name in DARK_SWITCHES if name not in callers}


def stand_ins(callers: Mapping[str, str], port: int) -> dict[str, str]:
    """Addresses of the stand-in for every leg nothing real is configured for.

    A leg is simulated as a whole: one real search engine, and no invented article comes beside its answers,
    nor does the stand-in judge read them.
    """
    chosen = invented_legs(callers, f"http://127.0.0.1:{port}")
    return chosen | {"SIMULATED_ANSWERS": "true"} if chosen else chosen


def invented_legs(callers: Mapping[str, str], base: str) -> dict[str, str]:
    chosen: dict[str, str] = {}
    if not callers.get("OPENSANCTIONS_API_KEY") and not callers.get("OPENSANCTIONS_URL"):
        chosen |= {"OPENSANCTIONS_URL": f"{base}/opensanctions", "OPENSANCTIONS_API_KEY": STAND_IN_KEY}
    if any(callers.get(f"{name}_API_KEY") for name in MEDIA):
        return chosen
    for name in MEDIA:
        chosen |= {f"{name}_URL": f"{base}/{name.lower()}", f"{name}_API_KEY": STAND_IN_KEY}
    chosen["BRIGHTDATA_ZONE"] = STAND_IN_KEY
    if not callers.get("JUDGE_MODEL"):
        judge = {"JUDGE_MODEL": "openai/stand-in-judge", "JUDGE_BASE_URL": f"{base}/openai/v1"}
        chosen |= {**judge, "JUDGE_API_KEY": STAND_IN_KEY, "JUDGE_MODE": "TOOLS"}
    return chosen
