# The server with its console, without an embedded PostgreSQL: docs/installation.md.
ARG PYTHON=docker.io/library/python:3.13-slim

FROM ${PYTHON} AS build
# --build-arg EXTRAS=s3,kafka,rabbitmq,mcp: docs/installation.md#containers
ARG EXTRAS=
WORKDIR /source
COPY requirements/ requirements/
RUN python -m venv /opt/vivero \
    && /opt/vivero/bin/python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements/program.txt
COPY . .
RUN python -m venv /opt/build \
    && /opt/build/bin/python -m pip install --no-cache-dir --disable-pip-version-check "hatchling>=1.27" \
    && /opt/build/bin/python console/build.py \
    && /opt/build/bin/python -m hatchling build -t wheel -d /opt/wheel \
    && /opt/vivero/bin/python -m pip install --no-cache-dir --disable-pip-version-check --no-deps --no-index /opt/wheel/*.whl \
    && if [ -n "${EXTRAS}" ]; then /opt/vivero/bin/python -m pip install --no-cache-dir --disable-pip-version-check "vivero[${EXTRAS}]"; fi \
    && /opt/vivero/bin/python -m pip uninstall --yes --quiet pip

FROM ${PYTHON}
LABEL org.opencontainers.image.title="Vivero" \
      org.opencontainers.image.description="A BPMN 2.0 workflow engine on PostgreSQL that speaks the Camunda 8 REST API" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/vivero /opt/vivero
# Clients come from other machines, so every request needs credentials. --insecure would lift that, and is nowhere here.
ENV PATH=/opt/vivero/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    VIVERO_API_HOST=0.0.0.0 \
    VIVERO_AUTH_MODE=required \
    VIVERO_LOG_FORMAT=json
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
# With TLS, or with --processes, a check of your own must replace this one.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/ready', timeout=4)"]
ENTRYPOINT ["vivero"]
CMD ["up"]
