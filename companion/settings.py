"""Django's settings. What may differ between machines comes from `companion.env`; nothing else reads the environment."""

from pathlib import Path

import environ
from csp.constants import NONE, SELF

from companion import env
from companion.up.secrets import secret_key

BASE_DIR = Path(__file__).resolve().parent.parent
ENV = env.read()

DEBUG = ENV.debug
SECRET_KEY = secret_key(ENV.data)
VERSION = "0.1.0"

LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
PUBLIC_HOSTS = [h for h in [environ.urlparse(ENV.public_url).hostname] if h]
BOUND_HOSTS = [] if ENV.host in {"0.0.0.0", "::", "127.0.0.1", "localhost", "::1"} else [ENV.host]
ALLOWED_HOSTS = LOOPBACK_HOSTS + PUBLIC_HOSTS + BOUND_HOSTS
CSRF_TRUSTED_ORIGINS = [ENV.public_url] if ENV.public_url else []

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "django_htmx",
    "csp",
    "template_partials.apps.SimpleAppConfig",
    "companion.apps.CompanionConfig",
    "sessions.apps.SessionsConfig",
    "memory.apps.MemoryConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "companion.middleware.headers",
    "companion.middleware.off_loop",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "companion.middleware.same_origin",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "companion.middleware.signed_in_only",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "companion.urls"
ASGI_APPLICATION = "companion.asgi.application"

_loaders = ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [("template_partials.loader.Loader", [("django.template.loaders.cached.Loader", _loaders)])],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "companion.context.console",
            ],
            "builtins": ["template_partials.templatetags.partials"],
        },
    }
]

# Database: the operator's own by URL, or the embedded one over its socket.
if ENV.database_url:
    DATABASES = {"default": environ.Env.db_url_config(ENV.database_url)}
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": "companion",
            "USER": "companion",
            "HOST": str(ENV.run),
        }
    }
DATABASES["default"]["CONN_MAX_AGE"] = 60
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Valkey: Celery and channels_redis spell a socket URL differently.
VALKEY_SOCKET = ENV.run / "valkey.sock"
REDIS_URL = ENV.redis_url or f"unix://{VALKEY_SOCKET}"
BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CHANNEL_LAYERS = {
    "default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL], "capacity": 1000}}
}

# Only what must hold over all web processes and may be lost: how often a wrong password was tried.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}

CELERY_BROKER_URL = BROKER_URL
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = 1800
CELERY_TASK_DEFAULT_QUEUE = f"host.{ENV.host_name}"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
}
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "sweep-transcripts": {"task": "sessions.tasks.index_all", "schedule": 60.0, "options": {"expires": 55}},
}

# Sign-in and headers (security rows 2-5, 15).
SESSION_COOKIE_NAME = "companion"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_COOKIE_SAMESITE = "Strict"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = ENV.public_url.startswith("https://")
SESSION_SAVE_EVERY_REQUEST = False
CSRF_COOKIE_NAME = "companion_csrf"
CSRF_COOKIE_SAMESITE = "Strict"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE
CSRF_FAILURE_VIEW = "companion.views.errors.csrf_failure"
LANGUAGE_COOKIE_NAME = "companion_language"
LANGUAGE_COOKIE_SAMESITE = "Strict"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SESSION_COOKIE_SECURE else None
SECURE_REFERRER_POLICY = "no-referrer"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

LANGUAGE_CODE = "zh-hans"
LANGUAGES = [("zh-hans", "中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "companion" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = str(ENV.zone)
USE_THOUSAND_SEPARATOR = False

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "companion.finders.PlotlyFinder",
]
# Served from where they lie; nothing is collected.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False
# Its version is in its address.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/plotly/[^/]+/"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"tokens": {"()": "companion.session.HideTokens"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["tokens"]}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {"django.server": {"propagate": True}, "httpx": {"level": "WARNING"}},
}
