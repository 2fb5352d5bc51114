# Targets: gateway (all processes of the gateway, and the command line), mpc-node (a signing node alone), try (with local chains; for
# `docker compose --env-file try.env up`, never for a deployment).
FROM node:24.11.1-bookworm-slim@sha256:48abc13a19400ca3985071e287bd405a1d99306770eb81d61202fb6b65cf0b57 AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# client/ is for those who call the API: neither it nor its packages are in an image
RUN npm ci --ignore-scripts --workspaces=false
# the base image has no root certificates, and the client of Temporal looks for those of the system (Node has its own): for Temporal Cloud
RUN node -p "require('tls').rootCertificates.join('\n')" > /ca-certificates.crt

FROM packages AS sources
COPY .swcrc ./
COPY scripts scripts
COPY src src
COPY workflows workflows
COPY activities activities
COPY migrations migrations
COPY native/threshold/worker.cjs native/threshold/verify.cjs native/threshold/
COPY native/threshold/wasm native/threshold/wasm

# with dev/, which needs packages that no process of a deployment has
FROM sources AS try-build
COPY dev dev
# the test contracts too: the file system is read-only when it runs
RUN npm run build && node -e "require('./dist/dev/contracts').contractArtifacts()"

FROM sources AS build
RUN npm run build && npm prune --omit=dev --omit=optional --ignore-scripts --workspaces=false

FROM build AS mpc-node-files
RUN node scripts/mpc-node-image.mjs /node

FROM node:24.11.1-bookworm-slim@sha256:48abc13a19400ca3985071e287bd405a1d99306770eb81d61202fb6b65cf0b57 AS try
WORKDIR /app
COPY --from=try-build /app /app
COPY bin bin
RUN install -d -o node -g node /var/lib/try
USER node

FROM node:24.11.1-bookworm-slim@sha256:48abc13a19400ca3985071e287bd405a1d99306770eb81d61202fb6b65cf0b57 AS mpc-node
WORKDIR /app
ENV NODE_ENV=production
COPY --from=packages /ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=mpc-node-files /node /app
# a volume, for the journal mark
RUN install -d -o node -g node /var/lib/mpc-node
USER node
CMD ["node", "dist/src/processes/mpc-node.js"]

FROM node:24.11.1-bookworm-slim@sha256:48abc13a19400ca3985071e287bd405a1d99306770eb81d61202fb6b65cf0b57 AS gateway
WORKDIR /app
ENV NODE_ENV=production
COPY --from=packages /ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /app /app
COPY bin bin
USER node
CMD ["node", "dist/src/processes/api.js"]
