# All that docker-compose.yml runs, each a target: portal, lab, postgres, redis, proxy. Everything but the Python packages comes from
# Debian, and nothing is fetched when a container starts. docs/containers.md says how to use it.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS base
# Numbers of accounts own what lies in volumes, so they stay the same in every image that is built later.
RUN groupadd --gid 900 netzwart && useradd --uid 900 --gid 900 --home-dir /state --shell /usr/sbin/nologin netzwart

FROM base AS python
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates openssh-client postgresql-client python3 restic tzdata \
    && apt-get clean && rm -rf /var/lib/apt/lists/*

FROM python AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv
WORKDIR /opt/netzwart
COPY requirements-production.lock .
# pip trusts the authorities that Debian trusts, also one of your own that the base image has.
ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt
RUN python3 -m venv .venv \
    && .venv/bin/pip install --quiet --disable-pip-version-check --no-cache-dir --require-hashes -r requirements-production.lock \
    && .venv/bin/pip uninstall --quiet --yes pip
COPY LICENSE manage.py pyproject.toml ./
COPY apps apps
# A part of the emergency sheet.
COPY docs/runbook.md docs/runbook.md
COPY firewall firewall
COPY gateway gateway
COPY locale locale
COPY migrations migrations
COPY portal portal
COPY static static
COPY templates templates
COPY workers workers
# What `netzwart seed --demo` describes; the lab itself is in another image.
COPY lab/topology.toml lab/topology.toml
# Nothing can write compiled files beside the code later; as nothing changes it either, Python need not look whether they are recent.
RUN NETZWART_SECRET_KEY=only-for-this-command .venv/bin/python manage.py compile_catalogs \
    && .venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash . \
    && printf '#!/bin/sh\nexec /opt/netzwart/.venv/bin/python /opt/netzwart/manage.py "$@"\n' > /usr/local/bin/netzwart \
    && chmod 755 /usr/local/bin/netzwart

FROM python AS portal
# A new volume gets the owner of what the image has in its place.
RUN install -d -o netzwart -g netzwart -m 750 /state && install -d -m 755 /lab
COPY --from=build /usr/local/bin/netzwart /usr/local/bin/netzwart
COPY --from=build /opt/netzwart /opt/netzwart
WORKDIR /opt/netzwart
ENV PATH=/opt/netzwart/.venv/bin:/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    NETZWART_VAR=/state NETZWART_GATEWAY_SOCKETS=/lab/gateways HOME=/state
USER netzwart
CMD ["python", "-m", "portal.programs", "web"]

# Two gateways with members, an internet and its servers in network namespaces, to try what a change does with packets.
FROM portal AS lab
USER root
RUN apt-get update \
    && apt-get install -y --no-install-recommends conntrack ethtool iproute2 iputils-ping libnftables1 nftables procps \
    && apt-get clean && rm -rf /var/lib/apt/lists/*
COPY lab lab
RUN ln -s /lab var
CMD ["python", "-m", "portal.stack", "gateways", "--var", "/lab", "--group", "netzwart"]

FROM base AS postgres
RUN groupadd --gid 901 postgres && useradd --uid 901 --gid 901 --home-dir /var/lib/postgresql --shell /bin/sh postgres \
    && mkdir -p /etc/postgresql-common && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
    && apt-get update && apt-get install -y --no-install-recommends postgresql && apt-get clean && rm -rf /var/lib/apt/lists/* \
    && install -d -o postgres -g postgres -m 700 /var/lib/postgresql && install -d -o postgres -g postgres -m 755 /run/postgresql
COPY containers/start-postgres /usr/local/bin/start-postgres
USER postgres
STOPSIGNAL SIGINT
CMD ["/usr/local/bin/start-postgres"]

FROM base AS redis
RUN groupadd --gid 902 redis && useradd --uid 902 --gid 902 --home-dir /var/lib/redis --shell /usr/sbin/nologin redis \
    && apt-get update && apt-get install -y --no-install-recommends redis-server && apt-get clean && rm -rf /var/lib/apt/lists/* \
    && install -d -o redis -g redis -m 700 /var/lib/redis && install -d -o redis -g redis -m 755 /run/redis
USER redis
CMD ["redis-server", "--port", "0", "--unixsocket", "/run/redis/redis.sock", "--unixsocketperm", "777", "--dir", "/var/lib/redis", \
     "--loglevel", "warning"]

FROM base AS proxy
RUN groupadd --gid 903 caddy && useradd --uid 903 --gid 903 --home-dir /data --shell /usr/sbin/nologin caddy \
    && apt-get update && apt-get install -y --no-install-recommends ca-certificates caddy && apt-get clean && rm -rf /var/lib/apt/lists/* \
    && install -d -o caddy -g caddy -m 700 /data
COPY containers/Caddyfile /etc/caddy/Caddyfile
ENV HOME=/data XDG_DATA_HOME=/data XDG_CONFIG_HOME=/data
# Ports below 1024 need one capability; everything else is given up before Caddy starts.
CMD ["setpriv", "--reuid", "caddy", "--regid", "caddy", "--clear-groups", "--inh-caps", "+net_bind_service", "--ambient-caps", \
     "+net_bind_service", "caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
