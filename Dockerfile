# Two stages: the environment is built once, the image that runs holds nothing else.
FROM python:3.12-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/remora
COPY requirements/run.txt requirements/
RUN /opt/remora/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY app app
RUN /opt/remora/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps .

FROM python:3.12-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin remora \
    && install --directory --owner remora --group remora --mode 0700 /data
COPY --from=build /opt/remora /opt/remora
# On 0.0.0.0 Remora wants to know who asks: see "Docker" in README.md.
ENV PATH=/opt/remora/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    REMORA_HOST=0.0.0.0 \
    REMORA_PORT=8080 \
    REMORA_DATA_DIR=/data
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ['REMORA_PORT']}/readyz\", timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["remora"]
CMD ["serve"]
