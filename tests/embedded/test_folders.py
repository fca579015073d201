"""Where the embedded product lives, as root and as somebody else, and whose permissions it leaves alone."""

import dataclasses
import os
import pwd
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.embedded.demo import processes_naming, running
from tests.services import reachable_installation
from verifier.embedded import folders, keeping, left_behind, postgres, roles
from verifier.embedded.folders import Refused
from verifier.embedded.postgres import Cluster
from verifier.embedded.product import known_secrets, set_forgotten_aside
from verifier.embedded.roles import Login

AS_ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("closed", [False, True], ids=["open folder", "closed folder"])
def test_it_runs_and_leaves_every_permission_as_it_was(home, closed):
    data = home / "private" / "data"
    data.mkdir(parents=True)
    data.parent.chmod(0o700 if closed else 0o755)
    watched = [data, *data.parents, Path("/var/lib"), Path(sys.executable).resolve().parent, postgres.installation()]
    before = {path: mode(path) for path in watched}
    users_before = Path("/etc/passwd").read_text()
    with running(data, home / "output.log") as demo:
        with psycopg.connect(demo.credentials["database_url"]) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        is_outside = not (data / "postgres").exists()
        assert is_outside is (AS_ROOT and closed)
    assert {path: mode(path) for path in watched} == before
    assert Path("/etc/passwd").read_text() == users_before
    assert processes_naming(data) == []
    if is_outside:
        forget(data)


def forget(data: Path) -> None:
    """What --reset removes: also the cluster outside the data folder, and nothing that isn't the product's."""
    places = folders.locate(data)
    assert places.cluster.parent == folders.SYSTEM_FOLDER
    (data / "mine.txt").write_text("kept")
    folders.reset(places)
    assert not places.cluster.exists()
    assert sorted(path.name for path in data.iterdir()) == ["lock", "mine.txt"]


def test_a_reset_begins_anew(home):
    data = home / "data"
    with running(data, home / "first.log") as demo:
        before = demo.credentials["api_key"]
    with running(data, home / "second.log", "--reset") as demo:
        assert demo.credentials["api_key"] != before


def test_an_ordinary_user_runs_the_database_without_any_privilege(home):
    data, installed = home / "data", reachable_installation(home)
    os.chown(home, NOBODY.pw_uid, NOBODY.pw_gid)
    told = as_nobody(lambda: run_a_database(data, installed))
    assert told == "second_look_app on data owned by 65534" if AS_ROOT else told.startswith("second_look_app on data")
    assert processes_naming(data) == []
    assert [mode(data), mode(data / "postgres"), mode(data / "postgres" / "socket")] == [0o700] * 3


def run_a_database(data: Path, installed: Path) -> str:
    places = folders.locate(data)
    folders.make(places)
    assert places.user is None
    cluster = Cluster(
        home=places.cluster,
        socket=places.postgres_socket,
        log=places.logs / "postgres.log",
        installed=installed,
        user=None,
        options=postgres.FOR_TESTS,
    )
    cluster.initialise("a password")
    process = cluster.start()
    owner, application = Login("second_look_owner", "one"), Login("second_look_app", "two")
    roles.set_up(cluster.url(Login("postgres", "a password"), "postgres"), owner=owner, application=application)
    with psycopg.connect(cluster.url(application, roles.DATABASE)) as connection:
        row = connection.execute("SELECT current_user").fetchone()
    postgres.stop(process)
    return f"{row and row[0]} on data owned by {cluster.data.stat().st_uid}"


def as_nobody(work: Callable[[], str]) -> str:
    """Runs in a process of its own, which gives up root's privileges first if it has them."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if AS_ROOT:
                os.setgroups([])
                os.setgid(NOBODY.pw_gid)
                os.setuid(NOBODY.pw_uid)
            os.write(writing, work().encode())
        except BaseException as problem:  # noqa: BLE001  # told to the waiting test
            os.write(writing, repr(problem).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as answer:
        return answer.read()


@pytest.mark.parametrize("rooms", [("data",), ("data", "data.new")])
def test_a_cluster_whose_data_folder_was_removed_is_set_aside(tmp_path, rooms):
    places = dataclasses.replace(folders.locate(tmp_path / "data"), cluster=tmp_path / "outside")
    for room in rooms:
        (places.cluster / room).mkdir(parents=True)
    set_forgotten_aside(places)
    assert not places.cluster.exists()
    assert (tmp_path / "outside.left-1" / "data").is_dir()
    folders.reset(places)
    assert not (tmp_path / "outside.left-1").exists()


def test_a_cluster_whose_passwords_are_kept_stays(tmp_path):
    places = dataclasses.replace(folders.locate(tmp_path / "data"), cluster=tmp_path / "outside")
    (places.cluster / "data").mkdir(parents=True)
    keeping.write(places.data_dir / "secrets.json", {})
    set_forgotten_aside(places)
    assert places.cluster.exists()


def test_a_cluster_inside_without_its_passwords_is_not_begun_over(tmp_path):
    places = dataclasses.replace(folders.locate(tmp_path / "data"), cluster=tmp_path / "data" / "postgres")
    (places.cluster / "data").mkdir(parents=True)
    set_forgotten_aside(places)
    with pytest.raises(Refused, match="start with --reset"):
        known_secrets(places)


def test_its_folder_has_one_name_for_one_data_folder(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert folders.locate(tmp_path / "a").short == folders.locate(tmp_path / "b").short
    assert folders.locate(tmp_path / "a").short != folders.locate(tmp_path / "c").short


def test_a_long_path_gets_its_sockets_elsewhere(tmp_path):
    deep = tmp_path / ("d" * 120)
    places = folders.locate(deep)
    folders.make(places)
    for socket in (places.postgres_socket / ".s.PGSQL.5432", places.valkey_socket):
        assert len(os.fsencode(socket)) < 104
    assert mode(places.short) & 0o022 == 0
    assert mode(places.postgres_socket) == 0o700
    folders.reset(places)
    assert not places.short.exists()


def test_a_short_folder_that_others_may_write_is_refused(tmp_path):
    places = folders.locate(tmp_path / ("d" * 120))
    places.short.mkdir()
    places.short.chmod(0o777)
    with pytest.raises(Refused, match="is not ours"):
        folders.make(places)
    places.short.rmdir()


def test_a_folder_is_locked_by_one_at_a_time(tmp_path):
    refused = pytest.raises(Refused, match=f"in use by process {os.getpid()}")
    with folders.locked(tmp_path), refused, folders.locked(tmp_path):
        pass
    with folders.locked(tmp_path):
        pass


def test_secrets_are_readable_by_their_owner_only_from_the_first_byte(tmp_path):
    keeping.write(tmp_path / "secrets.json", {"a": "b"})
    assert mode(tmp_path / "secrets.json") == 0o600
    assert keeping.read(tmp_path / "secrets.json") == {"a": "b"}
    assert keeping.read(tmp_path / "absent.json") is None


@pytest.mark.parametrize("name", ["plain", "Capital Letters and spaces", "ümläut", "per%cent", "at@colon:"])
def test_a_socket_folder_survives_every_reader_of_addresses(tmp_path, name):
    import dj_database_url
    from psycopg.conninfo import conninfo_to_dict

    url = f"postgresql://role:word@{postgres.socket_host(tmp_path / name)}/base"
    assert dj_database_url.parse(url)["HOST"] == str(tmp_path / name)
    assert conninfo_to_dict(url)["host"] == str(tmp_path / name)


def test_a_pid_file_of_some_other_process_is_forgotten(tmp_path):
    (tmp_path / "postmaster.pid").write_text(f"{os.getpid()}\n{tmp_path}\n")
    left_behind.stop_left_behind(tmp_path)
    assert not (tmp_path / "postmaster.pid").exists()
