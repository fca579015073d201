"""One real PostgreSQL and one real Valkey for a whole run; each xdist worker has databases of its own in them."""

import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg

from verifier.embedded import children, postgres, roles
from verifier.embedded.postgres import Cluster
from verifier.embedded.roles import APPLICATION_ROLE, OWNER_ROLE, Login
from verifier.embedded.valkey import Broker


class Services:
    """Started once, by the process that runs or distributes the tests."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="second-look-tests-"))
        self.folder.chmod(0o711)  # the server's user must be able to search it
        self.superuser = Login(postgres.SUPERUSER, secrets.token_urlsafe(16))
        self.owner = Login(OWNER_ROLE, secrets.token_urlsafe(16))
        self.application = Login(APPLICATION_ROLE, secrets.token_urlsafe(16))
        user = postgres.server_user()
        socket = self.folder / "s"
        postgres.own_folder(socket, user)
        self.cluster = Cluster(
            home=self.folder,
            socket=socket,
            log=self.folder / "postgres.log",
            installed=reachable_installation(self.folder),
            user=user,
            options=postgres.FOR_TESTS,
        )
        self.broker = Broker(
            home=self.folder / "v", socket=self.folder / "v.sock", log=self.folder / "valkey.log", durable=False
        )
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        self.cluster.initialise(self.superuser.password)
        self.processes = [self.cluster.start(), self.broker.start()]
        superuser_url = self.cluster.url(self.superuser, "postgres")
        roles.set_up(superuser_url, owner=self.owner, application=self.application, may_create_databases=True)
        with psycopg.connect(superuser_url, autocommit=True) as connection:
            # Only here: a test may take on the application's role inside its own transaction.
            connection.execute(f"GRANT {APPLICATION_ROLE} TO {OWNER_ROLE} WITH INHERIT FALSE, SET TRUE")

    def environment(self) -> dict[str, str]:
        """What settings read. Nothing of the caller's own configuration may leak into a test."""
        return {
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": self.cluster.url(self.application, roles.DATABASE),
            "DATABASE_OWNER_URL": self.cluster.url(self.owner, roles.DATABASE),
            "DATABASE_AS_OWNER": "true",
            "REDIS_URL": self.broker.url(),
            "SECRET_KEY": secrets.token_urlsafe(50),
            "DATA_DIR": str(self.folder / "data"),
            "DJANGO_ALLOW_ASYNC_UNSAFE": "true",  # the browser's driver runs a loop in the tests' thread
        }

    def stop(self) -> None:
        for process in self.processes[:1]:
            postgres.stop(process)
        for process in self.processes[1:]:
            children.stop(process)
        shutil.rmtree(self.folder, ignore_errors=True)


def reachable_installation(folder: Path) -> Path:
    """The binaries where the server's user can reach them: as root with a private checkout that is a copy."""
    installed = postgres.installation()
    if os.geteuid() or all(parent.stat().st_mode & 0o001 for parent in [installed, *installed.parents]):
        return installed
    return Path(shutil.copytree(installed, folder / "pginstall"))


CALLERS_OWN = (
    "OPENSANCTIONS_",
    "TAVILY_",
    "EXA_",
    "BRIGHTDATA_",
    "JUDGE_",
    "FINDING_",
    "CITATION_",
    "EVIDENCE_",
    "MAKER_",
    "MAX_REPORT",
)


def forget_callers_configuration() -> None:
    for name in [name for name in os.environ if name.startswith(CALLERS_OWN)]:
        del os.environ[name]


def broker_database_of(worker: str) -> int:
    """Each worker's number in the broker: gw0 has 1, a run without workers 0 (Valkey has 16)."""
    return int(worker.removeprefix("gw")) % 15 + 1 if worker else 0
