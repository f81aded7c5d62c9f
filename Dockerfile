# syntax=docker/dockerfile:1.20
# One image an app: docker build --target gateway -t posthorn-gateway .
# Targets: gateway, sender, scheduler, webhook-dispatcher, inbound, dashboard, and `tools` (migrations, the operators' command line).

FROM node:24.21.0-slim AS build
WORKDIR /posthorn
COPY . .
RUN npm ci --no-audit --no-fund && npm run build

FROM node:24.21.0-slim AS packages
WORKDIR /posthorn
# Of the workspaces only what npm needs to know of them, so that a change of code leaves this layer as it is.
COPY package.json package-lock.json .npmrc ./
COPY --parents apps/*/package.json libs/*/package.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-slim AS production
ENV NODE_ENV=production
WORKDIR /posthorn
# Says that files are ES modules.
COPY package.json ./
USER node

# An app is bundled with its packages; what it serves files from is added below.
FROM production AS app
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --start-interval=1s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HTTP_PORT || 3000}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM

FROM app AS gateway
COPY --from=build --parents /posthorn/./node_modules/swagger-ui-dist ./
COPY --from=build /posthorn/apps/gateway/dist/*.js* apps/gateway/dist/
CMD ["node", "apps/gateway/dist/main.js"]

FROM app AS sender
COPY --from=build /posthorn/apps/sender/dist/*.js* apps/sender/dist/
CMD ["node", "apps/sender/dist/main.js"]

FROM app AS scheduler
COPY --from=build /posthorn/apps/scheduler/dist/*.js* apps/scheduler/dist/
CMD ["node", "apps/scheduler/dist/main.js"]

FROM app AS webhook-dispatcher
COPY --from=build /posthorn/apps/webhook-dispatcher/dist/*.js* apps/webhook-dispatcher/dist/
CMD ["node", "apps/webhook-dispatcher/dist/main.js"]

FROM app AS inbound
EXPOSE 2525
COPY --from=build /posthorn/apps/inbound/dist/*.js* apps/inbound/dist/
CMD ["node", "apps/inbound/dist/main.js"]

FROM app AS dashboard
COPY --from=build --parents /posthorn/./node_modules/@bull-board/ui ./
COPY --from=build /posthorn/apps/dashboard/dist/*.js* apps/dashboard/dist/
CMD ["node", "apps/dashboard/dist/main.js"]

FROM production AS tools
COPY --from=packages /posthorn ./
COPY --from=build --parents /posthorn/./libs/*/dist ./
COPY prisma/migrations prisma/migrations
COPY tools/migrate.mjs tools/posthorn.mjs tools/
COPY tools/posthorn tools/posthorn
COPY tools/stack tools/stack
CMD ["node", "tools/migrate.mjs"]
