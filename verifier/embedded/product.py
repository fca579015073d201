"""Sets the whole product up inside one data folder and runs it until somebody asks it to end."""

import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verifier.embedded import folders, keeping, left_behind, postgres, prepared, roles, services
from verifier.embedded.folders import Places, Refused
from verifier.embedded.postgres import Cluster
from verifier.embedded.roles import Login
from verifier.embedded.services import Programs
from verifier.embedded.supervisor import Stop, Supervisor, ignore_signals, stop_on_signals
from verifier.embedded.surroundings import product_environment, stand_ins, switched_on
from verifier.embedded.valkey import Broker

READY_SECONDS = 120.0
SEED_SECONDS = 20.0  # the demo's first cases; what takes longer goes on while people look around


@dataclass(frozen=True)
class Wish:
    """What `manage.py demo` was asked for."""

    project: Path
    data_dir: Path
    port: int
    empty: bool = False
    reset: bool = False


@dataclass
class Product:
    wish: Wish
    places: Places
    say: Callable[[str], None]
    supervisor: Supervisor
    secrets: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.wish.port}"

    def cluster(self) -> Cluster:
        return Cluster(
            home=self.places.cluster,
            socket=self.places.postgres_socket,
            log=self.places.logs / "postgres.log",
            installed=folders.reachable_installation(postgres.installation(), self.places),
            user=self.places.user,
        )

    def broker(self) -> Broker:
        home = self.places.data_dir / "valkey"
        return Broker(home=home, socket=self.places.valkey_socket, log=self.places.logs / "valkey.log")

    def login(self, role: str) -> Login:
        return Login(role, self.secrets[role])

    def addresses(self) -> dict[str, str]:
        cluster = self.cluster()
        return {
            "DATABASE_URL": cluster.url(self.login(roles.APPLICATION_ROLE), roles.DATABASE),
            "DATABASE_OWNER_URL": cluster.url(self.login(roles.OWNER_ROLE), roles.DATABASE),
            "REDIS_URL": self.broker().url(),
            "SECRET_KEY": os.environ.get("SECRET_KEY", "").strip() or self.secrets["secret_key"],
            "CHECKPOINT_KEY": os.environ.get("CHECKPOINT_KEY", "").strip() or self.secrets["checkpoint_key"],
        }

    def start(self) -> None:
        self.start_stores()
        runtime = self.addresses()
        keeping.write(self.places.data_dir / "runtime.json", runtime)
        port = free_port()
        invented = {} if self.wish.empty else stand_ins(os.environ, port)
        programs = Programs(self.wish.project, self.places, self.environment(runtime, invented))
        self.set_up(programs, runtime["DATABASE_OWNER_URL"])
        self.write_credentials(runtime)
        self.start_works(programs, stand_in_port=port if invented else None)

    def start_stores(self) -> None:
        self.say("Starting PostgreSQL and Valkey")
        cluster = self.cluster()
        self.secrets = known_secrets(self.places)
        left_behind.stop_left_behind(cluster.data)
        cluster.initialise(self.secrets[postgres.SUPERUSER])
        self.supervisor.start(services.database(cluster))
        self.supervisor.start(services.broker(self.broker()))
        superuser_url = cluster.url(self.login(postgres.SUPERUSER), "postgres")
        roles.set_up(superuser_url, owner=self.login(roles.OWNER_ROLE), application=self.login(roles.APPLICATION_ROLE))

    def environment(self, runtime: dict[str, str], invented: dict[str, str]) -> dict[str, str]:
        data_dir = self.places.data_dir
        own = {**runtime, "DATA_DIR": str(data_dir), "STATIC_ROOT": str(data_dir / "static")}
        switches = {} if self.wish.empty else switched_on(os.environ)
        return product_environment(os.environ, {**own, **switches, **invented})

    def set_up(self, programs: Programs, owner_url: str) -> None:
        """Only what is missing; commands that don't need one another run side by side."""
        static = prepared.StaticFiles(self.places.data_dir / "static", self.places.data_dir / "static.sha256")
        steps = [programs.begin("collectstatic", "--no-input", "--clear", "-v", "0")] if static.outdated() else []
        if prepared.migrations_pending(owner_url):
            self.say("Setting up the database")
            programs.begin("migrate", "-v", "0").finish()
        steps.append(programs.begin("apply_switches"))
        if not self.accounts.exists():
            steps.append(programs.begin("create_accounts", str(self.accounts)))
        for step in steps:
            step.finish()
        static.note()

    @property
    def accounts(self) -> Path:
        return self.places.data_dir / "accounts.json"

    def write_credentials(self, runtime: dict[str, str]) -> None:
        accounts: dict[str, Any] = keeping.read(self.accounts) or {}
        where = {
            "base_url": self.base_url,
            "database_url": runtime["DATABASE_URL"],
            "owner_database_url": runtime["DATABASE_OWNER_URL"],
            "redis_url": runtime["REDIS_URL"],
        }
        keeping.write(self.places.data_dir / "credentials.json", {**accounts, **where})

    def start_works(self, programs: Programs, *, stand_in_port: int | None) -> None:
        self.say("Starting web, worker, beat and relay")
        if stand_in_port:
            self.supervisor.start(programs.stand_in(stand_in_port))
        self.supervisor.start(programs.web(self.wish.port))
        seeding = None if self.wish.empty else programs.begin("seed_demo")
        for service in (programs.worker(), programs.relay(), programs.beat()):
            self.supervisor.start(service)
        if not self.comes_true(lambda: is_ready(self.base_url) and self.supervisor.all_run(), READY_SECONDS):
            raise Refused(f"the product was not ready after {READY_SECONDS:.0f} s; its logs are in {self.places.logs}")
        if seeding and self.comes_true(lambda: not seeding.is_running(), SEED_SECONDS):
            seeding.finish()

    def comes_true(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Looks after the processes meanwhile: one that ended is started again."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            self.supervisor.look()
            time.sleep(0.1)
        return True


def set_forgotten_aside(places: Places) -> None:
    """A removed data folder took the passwords of its cluster outside along; the next start there begins anew."""
    if places.is_outside and places.cluster.exists() and not (places.data_dir / "secrets.json").exists():
        left_behind.stop_left_behind(places.cluster / "data")
        folders.set_aside(places.cluster)


def known_secrets(places: Places) -> dict[str, str]:
    """The passwords this data folder was set up with. A cluster without them can't be opened again."""
    path = places.data_dir / "secrets.json"
    known = keeping.read(path)
    if known is not None:
        if "checkpoint_key" not in known:  # set up before checkpoints were
            known["checkpoint_key"] = keeping.new_signing_key()
            keeping.write(path, known)
        return known
    if (places.cluster / "data").exists():
        raise Refused(f"{places.cluster} holds a database, but {path} with its passwords is gone: start with --reset")
    fresh = keeping.new_secrets()
    keeping.write(path, fresh)
    return fresh


def is_ready(base_url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{base_url}/readyz", timeout=10) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise Refused(f"port {port} is taken: choose another with --port") from None


def run(wish: Wish, *, say: Callable[[str], None], ready: Callable[[Product], None]) -> None:
    """Runs until SIGINT or SIGTERM. Raises Refused with a sentence when it can't start."""
    stop_on_signals()
    supervisor = Supervisor(report=say)
    try:
        require_free(wish.port)
        places = folders.locate(wish.data_dir)
        with folders.locked(places.data_dir):
            run_locked(Product(wish, places, say, supervisor), ready)
    except Stop:
        pass
    except PermissionError as problem:
        raise Refused(f"{problem.filename} belongs to another user: use another --data-dir") from None


def run_locked(product: Product, ready: Callable[[Product], None]) -> None:
    places = product.places
    try:
        if product.wish.reset:
            left_behind.stop_left_behind(places.cluster / "data")
            folders.reset(places)
        set_forgotten_aside(places)
        folders.make(places)
        product.start()
        ready(product)
        product.supervisor.watch()
    finally:
        ignore_signals()
        product.say("Stopping")
        product.supervisor.stop()
        folders.remove(places.short)
