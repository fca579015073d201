"""Where the embedded product lives, as root and as somebody else, and whose permissions it leaves alone."""

import os
import pwd
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.embedded.demo import processes_naming, running
from verifier.embedded import folders, keeping, left_behind, postgres
from verifier.embedded.folders import Refused

AS_ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")
# A person without privileges runs the project only where its files are open to them.
PEOPLE = (
    [None] if not AS_ROOT or not folders.searchable_by_others(Path(sys.executable).resolve().parent) else [None, NOBODY]
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder below pytest's own, which are closed to others, is no place for a user's home: one directly in /tmp."""
    folder = Path(tempfile.mkdtemp(prefix="second-look-home-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("user", PEOPLE, ids=lambda user: user.pw_name if user else "ourselves")
@pytest.mark.parametrize("closed", [False, True], ids=["open folder", "closed folder"])
def test_it_runs_and_leaves_every_permission_as_it_was(home, user, closed):
    data = home / "private" / "data"
    data.mkdir(parents=True)
    data.parent.chmod(0o700 if closed else 0o755)
    if user:
        for path in (home, data.parent, data):
            os.chown(path, user.pw_uid, user.pw_gid)
    (home / "logs").mkdir(mode=0o777)
    watched = [data, *data.parents, Path("/var/lib"), Path(sys.executable).resolve().parent, postgres.installation()]
    before = {path: mode(path) for path in watched}
    users_before = Path("/etc/passwd").read_text()
    with running(data, home / "logs" / "output.log", user=user) as demo:
        with psycopg.connect(demo.credentials["database_url"]) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        inside = (data / "postgres").exists()
        assert inside is not (AS_ROOT and closed and user is None)
    assert {path: mode(path) for path in watched} == before
    assert Path("/etc/passwd").read_text() == users_before
    assert processes_naming(data) == []
    forget(data, inside)


def forget(data: Path, inside: bool) -> None:
    """What --reset removes, and nothing else: also the cluster outside the data folder."""
    if inside:
        return
    places = folders.locate(data)
    assert places.cluster.parent == folders.SYSTEM_FOLDER
    (data / "mine.txt").write_text("kept")
    folders.reset(places)
    assert not places.cluster.exists()
    assert sorted(path.name for path in data.iterdir()) == ["lock", "mine.txt"]


def test_a_reset_begins_anew(home):
    data = home / "data"
    home.chmod(0o755)
    with running(data, home / "first.log") as demo:
        before = demo.credentials["api_key"]
    with running(data, home / "second.log", "--reset") as demo:
        assert demo.credentials["api_key"] != before


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
