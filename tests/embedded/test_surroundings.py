"""Which environment the product's processes get."""

import pytest

from verifier.embedded.surroundings import ignored_addresses, product_environment, stand_ins, switched_on

SCREENING = {"OPENSANCTIONS_URL", "OPENSANCTIONS_API_KEY"}
MEDIA = {f"{name}_{part}" for name in ("TAVILY", "EXA", "BRIGHTDATA") for part in ("URL", "API_KEY")} | {
    "BRIGHTDATA_ZONE"
}
JUDGE = {"JUDGE_MODEL", "JUDGE_BASE_URL", "JUDGE_API_KEY", "JUDGE_MODE"}


@pytest.mark.parametrize(
    ("callers", "simulated"),
    [
        ({}, SCREENING | MEDIA | JUDGE),
        ({"OPENSANCTIONS_API_KEY": "real"}, MEDIA | JUDGE),
        ({"OPENSANCTIONS_URL": "http://yente.example"}, MEDIA | JUDGE),
        ({"TAVILY_API_KEY": "real"}, SCREENING),
        ({"EXA_API_KEY": "real"}, SCREENING),
        ({"BRIGHTDATA_API_KEY": "real", "BRIGHTDATA_ZONE": "serp"}, SCREENING),
        ({"JUDGE_MODEL": "openai/real"}, SCREENING | MEDIA),
        ({"TAVILY_API_KEY": "real", "OPENSANCTIONS_API_KEY": "real", "JUDGE_MODEL": "openai/real"}, set()),
    ],
)
def test_a_stand_in_answers_only_for_a_leg_nothing_real_is_configured_for(callers, simulated):
    assert set(stand_ins(callers, 4711)) - {"SIMULATED_ANSWERS"} == simulated


@pytest.mark.parametrize(("callers", "told"), [({}, "true"), ({"EXA_API_KEY": "real"}, "true")])
def test_pages_are_told_that_a_stand_in_answers(callers, told):
    assert stand_ins(callers, 4711)["SIMULATED_ANSWERS"] == told


def test_pages_are_told_nothing_when_every_leg_is_real():
    assert stand_ins({"TAVILY_API_KEY": "real", "OPENSANCTIONS_API_KEY": "real"}, 4711) == {}


def test_stand_ins_are_on_this_machine():
    urls = [value for name, value in stand_ins({}, 4711).items() if name.endswith("_URL")]
    assert all(url.startswith("http://127.0.0.1:4711/") for url in urls)


@pytest.mark.parametrize(
    ("callers", "added"),
    [
        ({}, {"FINDING_CORRECTNESS_VERIFICATION_ENABLED": "true", "FINDING_CORROBORATION_ENABLED": "true"}),
        ({"FINDING_CORROBORATION_ENABLED": "false"}, {"FINDING_CORRECTNESS_VERIFICATION_ENABLED": "true"}),
    ],
)
def test_the_demo_turns_dark_switches_on_unless_the_environment_has_its_own_word(callers, added):
    assert switched_on(callers) == added


def test_the_products_processes_get_its_own_services_and_the_callers_everything_else():
    callers = {"DATABASE_URL": "theirs", "DATABASE_AS_OWNER": "true", "TAVILY_API_KEY": "real", "PATH": "/bin"}
    environment = product_environment(callers, {"DATABASE_URL": "ours"})
    assert environment["DATABASE_URL"] == "ours"
    assert "DATABASE_AS_OWNER" not in environment
    assert (environment["TAVILY_API_KEY"], environment["PATH"]) == ("real", "/bin")


def test_an_address_of_the_callers_that_is_not_used_is_named():
    assert ignored_addresses({"DATABASE_URL": "theirs", "REDIS_URL": ""}) == ["DATABASE_URL"]
