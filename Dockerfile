# deploy/README.md says how it was tested.
# The images are pinned by their tags. Pin them by digest (`@sha256:…`).

FROM node:20.20.2-bookworm-slim AS build
WORKDIR /petstore
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY console/package.json console/
COPY scripts/ensure-bun.mjs scripts/run.mjs scripts/
RUN npm ci --no-audit --no-fund
COPY scripts scripts
COPY src src
COPY client client
COPY console console
COPY csv csv
COPY tsconfig.json ./
RUN npm run build
RUN mkdir data

# glibc and nothing else: no shell, no package manager.
FROM gcr.io/distroless/base-debian12:nonroot
COPY --from=build /petstore/dist/petstore /usr/local/bin/petstore
COPY --from=build --chown=65532:65532 /petstore/data /data
# The service writes only there, temporary files of SQLite too: all else may be read-only.
ENV PETSTORE_HOST=0.0.0.0 PETSTORE_DATA_DIR=/data SQLITE_TMPDIR=/data MIMALLOC_PURGE_HOLES=0
WORKDIR /data
VOLUME /data
EXPOSE 8080
USER 65532:65532
# As a list, not through a shell: signals reach the service.
ENTRYPOINT ["petstore"]
CMD ["serve"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=15s CMD ["petstore", "health"]
