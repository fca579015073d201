"""The broker's launcher, and its one address in the spellings of Django, redis-py and Celery."""

import stat

import kombu
import pytest
import redis

from verifier.embedded import children
from verifier.embedded.valkey import Broker, ValkeyFailed
from verifier.settings import celery_broker


@pytest.mark.parametrize("name", ["plain", "With Capitals and spaces"])
@pytest.mark.parametrize("database", [0, 3])
def test_redis_py_and_celery_reach_the_same_database(tmp_path, name, database):
    (tmp_path / name).mkdir()
    broker = Broker(home=tmp_path / name / "v", socket=tmp_path / name / "s", log=tmp_path / "log")
    process = broker.start()
    try:
        with kombu.Connection(celery_broker(broker.url(database))) as connection:
            connection.SimpleQueue("jobs").put("a job")
        assert redis.Redis.from_url(broker.url(database)).llen("jobs") == 1
    finally:
        children.stop(process)


def test_only_its_owner_may_open_its_socket_and_its_data(tmp_path):
    broker = Broker(home=tmp_path / "v", socket=tmp_path / "s", log=tmp_path / "log")
    process = broker.start()
    assert stat.S_IMODE(broker.socket.stat().st_mode) == 0o700
    assert stat.S_IMODE(broker.home.stat().st_mode) == 0o700
    children.stop(process)


def test_what_it_was_given_outlives_a_kill(tmp_path):
    broker = Broker(home=tmp_path / "v", socket=tmp_path / "s", log=tmp_path / "log")
    first = broker.start()
    redis.Redis.from_url(broker.url()).rpush("jobs", "a job")
    children.stop(first)
    second = broker.start()
    assert redis.Redis.from_url(broker.url()).lrange("jobs", 0, -1) == [b"a job"]
    children.stop(second)


def test_a_server_that_can_not_start_names_its_log(tmp_path):
    broker = Broker(home=tmp_path / "v", socket=tmp_path / "absent" / "s", log=tmp_path / "log")
    with pytest.raises(ValkeyFailed, match=str(broker.log)):
        broker.start()


@pytest.mark.parametrize(
    ("given", "for_celery"),
    [
        ("redis://:word@broker:6379/2", "redis://:word@broker:6379/2"),
        ("rediss://broker/0", "rediss://broker/0"),
        ("unix:///run/v.sock", "redis+socket:///run/v.sock"),
        ("unix:///run/v.sock?db=3", "redis+socket:///run/v.sock?virtual_host=3"),
        ("unix:///run/v.sock?db=3&password=x", "redis+socket:///run/v.sock?virtual_host=3&password=x"),
    ],
)
def test_the_address_is_translated_for_celery(given, for_celery):
    assert celery_broker(given) == for_celery
