import { readEnvFile, readSettings } from '../../stack/settings.mjs';
import { readJson, SECRETS_FILE, STACK_FILE } from '../../stack/state.mjs';

/** Names in `.env` that are for other programs: Node, Docker Compose. */
const OF_OTHER_PROGRAMS = /^(NODE_|OTEL_|COMPOSE_|DOCKER_|POSTGRES_|POSTHORN_|GRAFANA_|TZ$|npm_)/;

/**
 * The settings of the environment and of `.env`; missing ones are taken from the local stack while it runs.
 *
 * @returns {Record<string, string>}
 */
export function findSettings() {
  const stack = readJson(STACK_FILE);
  const local =
    stack === undefined
      ? {}
      : {
          DATABASE_URL: stack.databaseUrl,
          REDIS_URL: stack.redisUrl,
          SMTP_URL: stack.inbox?.smtpUrl,
          PUBLIC_URL: stack.apiUrl,
          ENCRYPTION_KEYS: readJson(SECRETS_FILE)?.encryptionKeys,
        };
  const known = Object.entries(local).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), ...readSettings() };
}

/** Names in `.env` that are not settings, usually mistyped ones. @returns {string[]} */
export function unknownNames({ ALL_SECTIONS, describeSettings }) {
  const names = new Set(describeSettings(ALL_SECTIONS).map(({ name }) => name));
  return Object.keys(readEnvFile()).filter((name) => !names.has(name) && !OF_OTHER_PROGRAMS.test(name));
}
