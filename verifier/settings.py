"""Django settings. Every deploy-time value comes from the environment (README, "Settings").

Without DATABASE_URL and REDIS_URL the embedded services of `manage.py demo` are used: their addresses
and the secret key stand in DATA_DIR/runtime.json, written by the supervisor and readable by its owner only.
"""

import json
import secrets
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from verifier.environment import Environment, require_keys

BASE_DIR = Path(__file__).resolve().parent.parent
environment = Environment()
DATA_DIR = Path(environment.text("DATA_DIR", str(BASE_DIR / ".data"))).absolute()


def runtime_file() -> dict[str, str]:
    try:
        written: dict[str, str] = json.loads((DATA_DIR / "runtime.json").read_text())
        return written
    except (OSError, ValueError):
        return {}


def deployed(name: str) -> str:
    """A service address: from the environment; if none is set there at all, from the embedded services."""
    configured = environment.text("DATABASE_URL") or environment.text("REDIS_URL")
    return environment.text(name) if configured else runtime_file().get(name, "")


DATABASE_URL = deployed("DATABASE_URL")
DATABASE_OWNER_URL = deployed("DATABASE_OWNER_URL")
environment.address("REDIS_URL", schemes=("redis", "rediss", "unix"))
REDIS_URL = deployed("REDIS_URL") or "redis://127.0.0.1:6379/0"
AS_OWNER = environment.boolean("DATABASE_AS_OWNER", False) and bool(DATABASE_OWNER_URL)

DEBUG = environment.boolean("DEBUG", False)
SECRET_KEY = deployed("SECRET_KEY") or environment.text("SECRET_KEY")
if not SECRET_KEY:
    if environment.text("DATABASE_URL"):
        raise ImproperlyConfigured("SECRET_KEY must be set where DATABASE_URL is")
    SECRET_KEY = secrets.token_urlsafe(50)
ALLOWED_HOSTS = environment.names("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
HTTPS = environment.boolean("HTTPS", False)
CSRF_TRUSTED_ORIGINS = environment.names("CSRF_TRUSTED_ORIGINS")
TRUSTED_PROXIES = environment.proxies("TRUSTED_PROXIES")  # whose word on a client's address is taken

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "csp",
    "ninja",
    "audit",
    "verifier",
    "reviews",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "reviews.middleware.NotStoredMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    # A form is read to check its token: only of those who may send one, and not before its length is known.
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "reviews.middleware.BodyMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "reviews.middleware.TenantMiddleware",
    "reviews.middleware.FirstPasswordMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "verifier.urls"
WSGI_APPLICATION = "verifier.wsgi.application"
ASGI_APPLICATION = "verifier.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "reviews.context.page",
            ],
        },
    },
]

APPLICATION_ROLE = urlsplit(DATABASE_URL).username or "second_look_app"
DATABASES = {
    "default": dj_database_url.parse(
        (DATABASE_OWNER_URL if AS_OWNER else DATABASE_URL) or "postgresql://second_look_app@127.0.0.1/second_look",
        conn_max_age=60,
        conn_health_checks=True,
    ),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}

AUTH_USER_MODEL = "reviews.User"
AUTHENTICATION_BACKENDS = ["reviews.backends.PeopleBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AUTH_PASSWORD_VALIDATORS[1]["OPTIONS"] = {"min_length": 12}  # type: ignore[assignment]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
SESSION_SERIALIZER = "reviews.sessions.SealedSerializer"
SESSION_COOKIE_AGE = 8 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
STATIC_URL = "static/"
STATIC_ROOT = environment.text("STATIC_ROOT", str(DATA_DIR / "static"))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_MANIFEST_STRICT = False

# Intake
MAX_REPORT_BYTES = environment.integer("MAX_REPORT_BYTES", 10 * 1024 * 1024, least=1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024  # a form without its file; the report is counted on its own
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 1
FILE_UPLOAD_HANDLERS = ["reviews.forms.BoundedUpload"]

# Providers: base address and key; a provider without key (OpenSanctions: nor own address) is not configured.
OPENSANCTIONS_URL = environment.address("OPENSANCTIONS_URL")
OPENSANCTIONS_API_KEY = environment.text("OPENSANCTIONS_API_KEY")
OPENSANCTIONS_DATASET = environment.text("OPENSANCTIONS_DATASET", "sanctions")
OPENSANCTIONS_ALGORITHM = environment.text("OPENSANCTIONS_ALGORITHM", "logic-v2")
OPENSANCTIONS_THRESHOLD = environment.number("OPENSANCTIONS_THRESHOLD", 0.70, most=1)
OPENSANCTIONS_CUTOFF = environment.number("OPENSANCTIONS_CUTOFF", 0.50, most=OPENSANCTIONS_THRESHOLD)
TAVILY_URL = environment.address("TAVILY_URL", "https://api.tavily.com")
TAVILY_API_KEY = environment.text("TAVILY_API_KEY")
EXA_URL = environment.address("EXA_URL", "https://api.exa.ai")
EXA_API_KEY = environment.text("EXA_API_KEY")
BRIGHTDATA_URL = environment.address("BRIGHTDATA_URL", "https://api.brightdata.com")
BRIGHTDATA_API_KEY = environment.text("BRIGHTDATA_API_KEY")
BRIGHTDATA_ZONE = environment.text("BRIGHTDATA_ZONE")
environment.needs("BRIGHTDATA_API_KEY", "BRIGHTDATA_ZONE")
BRIGHTDATA_SLOTS = 3  # ADR-0095: a hard ceiling, never raised to fix a scheduling problem
SLOT_WAIT_SECONDS = environment.integer("SLOT_WAIT_SECONDS", 120, least=1)
# Set by `manage.py demo` where its stand-in answers for a provider: every page then says so.
SIMULATED_ANSWERS = environment.boolean("SIMULATED_ANSWERS", False)

# The judge: without a model it is not configured, whatever else is set. Each provider with its OpenAI-compatible
# address, which JUDGE_BASE_URL replaces; any other such endpoint is openai/<model> with a JUDGE_BASE_URL.
JUDGE_PROVIDERS = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://localhost:11434/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "together": "https://api.together.xyz/v1",
    "deepseek": "https://api.deepseek.com",
}
JUDGE_MODEL = environment.model("JUDGE_MODEL", JUDGE_PROVIDERS)
JUDGE_BASE_URL = environment.address("JUDGE_BASE_URL")
JUDGE_API_KEY = environment.text("JUDGE_API_KEY")
JUDGE_MODE = environment.choice("JUDGE_MODE", "TOOLS", ("TOOLS", "JSON", "JSON_SCHEMA", "MD_JSON"))
JUDGE_TIMEOUT_SECONDS = environment.number("JUDGE_TIMEOUT_SECONDS", 30, least=0.1)

# ADR-0111 limits (seconds, counts)
FINDING_CORRECTNESS_RECHECK_TIMEOUT_SECONDS = environment.number(
    "FINDING_CORRECTNESS_RECHECK_TIMEOUT_SECONDS", 20, least=0.1
)
FINDING_CORRECTNESS_ADVERSE_RECHECK_TIMEOUT_SECONDS = environment.number(
    "FINDING_CORRECTNESS_ADVERSE_RECHECK_TIMEOUT_SECONDS", 45, least=0.1
)
FINDING_CORRECTNESS_MAX_RECHECKS = environment.integer("FINDING_CORRECTNESS_MAX_RECHECKS", 6, least=1)
FINDING_CORRECTNESS_CORROBORATION_FINDINGS = environment.integer(
    "FINDING_CORRECTNESS_CORROBORATION_FINDINGS", 20, least=1
)
FINDING_CORRECTNESS_BUDGET_SECONDS = environment.number("FINDING_CORRECTNESS_BUDGET_SECONDS", 300, least=1)
SUMMARY_CHARACTERS = 4000

# First values of the switches; the administration page has the word afterwards.
SWITCHES = {
    name: environment.boolean(name, default)
    for name, default in {
        "FINDING_CORRECTNESS_VERIFICATION_ENABLED": False,
        "FINDING_CORROBORATION_ENABLED": False,
        "CITATION_DRIFT_SWEEP_ENABLED": False,
        "EVIDENCE_REVIEW_ENABLED": True,
        "MAKER_CHECKER_ENABLED": True,
    }.items()
}
RETENTION_YEARS = environment.integer("RETENTION_YEARS", 5, least=1)

# The trail's checkpoints: who signs them, whose signature counts besides, and where they are kept.
CHECKPOINT_KEY = deployed("CHECKPOINT_KEY") or environment.text("CHECKPOINT_KEY")
CHECKPOINT_PUBLIC_KEYS = environment.names("CHECKPOINT_PUBLIC_KEYS")
require_keys(CHECKPOINT_KEY, CHECKPOINT_PUBLIC_KEYS)
CHECKPOINT_DIR = environment.text("CHECKPOINT_DIR", str(DATA_DIR / "checkpoints"))
EXPORT_DIR = environment.text("EXPORT_DIR", str(DATA_DIR / "exports"))  # of exports asked for on a page, for a day
CHECKPOINT_STORE = environment.text("CHECKPOINT_STORE", "audit.checkpoints.DirectoryStore")
CHECKPOINT_INTERVAL_MINUTES = environment.integer("CHECKPOINT_INTERVAL_MINUTES", 60, least=1, most=60 * 24 * 31)
TRAIL_VERIFICATION_INTERVAL_HOURS = environment.integer("TRAIL_VERIFICATION_INTERVAL_HOURS", 24, least=1, most=24 * 31)


def celery_broker(url: str) -> str:
    """redis-py's socket form (unix:///path?db=0) in kombu's spelling (redis+socket:///path?virtual_host=0)."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return url
    query = parts.query.replace("db=", "virtual_host=")
    return f"redis+socket://{parts.path}" + (f"?{query}" if query else "")


CELERY_BROKER_URL = celery_broker(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Longer than any run (300 s budget plus slot waits), or a running task would be delivered twice.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 1800}
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "forget expired sessions": {"task": "reviews.tasks.forget_expired_sessions", "schedule": 24 * 3600.0},
    "write checkpoints": {"task": "audit.tasks.write_checkpoints", "schedule": CHECKPOINT_INTERVAL_MINUTES * 60.0},
    "verify trails": {"task": "audit.tasks.verify_trails", "schedule": 3600.0},  # those that are due by then
    "forget exports": {"task": "audit.tasks.forget_exports", "schedule": 3600.0},
}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": environment.text("LOG_LEVEL", "INFO")},
    # httpx and httpx2 log whole request addresses at INFO; those can hold names. instructor logs the texts of errors
    # and refusals at ERROR; those can hold evidence or a part of the key.
    "loggers": {
        **{name: {"level": "WARNING"} for name in ("httpx", "httpx2", "httpcore", "httpcore2", "openai")},
        "instructor": {"level": "CRITICAL"},
    },
}
SILENCED_SYSTEM_CHECKS: list[str] = []
