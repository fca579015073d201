"""The compose file hands on what the trail's checkpoints need: they must not end with a container."""

import re

from tests.paths import PROJECT

COMPOSE = (PROJECT / "docker-compose.yml").read_text()
SETTINGS = (PROJECT / "verifier" / "settings.py").read_text()


def service(name: str) -> str:
    found = re.search(rf"^  {name}:\n(?:(?:    .*)?\n)+", COMPOSE, re.MULTILINE)
    assert found
    return found[0]


def test_each_setting_of_the_trail_that_an_operator_gives_is_handed_on() -> None:
    told = set(re.findall(r'"((?:CHECKPOINT|TRAIL)_\w+)"', SETTINGS)) - {"CHECKPOINT_DIR", "CHECKPOINT_STORE"}
    assert len(told) == 4
    handed_on = {name for name in told if f'{name}: "${{{name}:-' in COMPOSE}
    assert handed_on == told


def test_web_and_worker_share_lasting_places_that_the_image_makes_for_them() -> None:
    places = {name.lower() + "s": place for name, place in re.findall(r'(CHECKPOINT|EXPORT)_DIR: "(.+)"', COMPOSE)}
    assert places.keys() == {"checkpoints", "exports"}
    mounted = ", ".join(f'"{volume}:{place}"' for volume, place in places.items())
    for name in ("web", "worker"):
        assert f"volumes: [{mounted}]" in service(name)
        assert "*checkpoints" in service(name)
    declared = re.search(r"^volumes:\n((?:  \w+:\n)+)", COMPOSE, re.MULTILINE)
    assert declared
    assert places.keys() <= set(re.findall(r"\w+", declared[1]))
    assert f"install -d -o 10001 -m 750 {' '.join(places.values())}\n" in (PROJECT / "Dockerfile").read_text()
