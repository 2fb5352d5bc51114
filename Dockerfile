FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc .swcrc ./
COPY scripts scripts
COPY src src
COPY workflows workflows
COPY activities activities
COPY migrations migrations
RUN npm ci && npm run build && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:20-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app /app
COPY bin bin
COPY native/threshold/worker.cjs native/threshold/verify.cjs native/threshold/
COPY native/threshold/wasm native/threshold/wasm
# a volume of a signing node, for its journal mark
RUN mkdir /var/lib/mpc-node && chown node:node /var/lib/mpc-node
USER node
CMD ["node", "dist/src/processes/api.js"]
