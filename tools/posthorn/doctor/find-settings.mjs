import { readEnvFile, readSettings } from '../../stack/settings.mjs';
import { readJson, SECRETS_FILE, STACK_FILE } from '../../stack/state.mjs';

/** Names in `.env` that are for other programs: Node, Docker Compose and our file for it. */
const OF_OTHER_PROGRAMS = /^(NODE_|OTEL_|COMPOSE_|DOCKER_|POSTGRES_|POSTHORN_|INBOUND_PUBLISHED$|TZ$|npm_)/;

/**
 * The settings of the environment and of `.env`; missing ones are taken from the local stack while it runs.
 *
 * @param {any} [stack] the contents of its file; undefined: it is not up
 * @returns {Record<string, string>}
 */
export function findSettings(stack = readJson(STACK_FILE)) {
  const local =
    stack === undefined
      ? {}
      : {
          DATABASE_URL: stack.databaseUrl,
          REDIS_URL: stack.redisUrl,
          SMTP_URL: stack.smtpUrl,
          BOUNCE_DOMAIN: stack.bounceDomain,
          INBOUND_HOST: '127.0.0.1',
          INBOUND_PORT: stack.inboundPort,
          PUBLIC_URL: stack.publicUrl,
          SYSTEM_FROM: stack.systemFrom,
          ENCRYPTION_KEYS: readJson(SECRETS_FILE)?.encryptionKeys,
        };
  const known = Object.entries(local).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), ...readSettings() };
}

/**
 * Names that are not settings, usually mistyped ones.
 *
 * @param {Pick<typeof import('@posthorn/platform/settings'), 'ALL_SECTIONS' | 'describeSettings'>} settings
 * @param {string[]} [names] default: those in `.env`
 * @returns {string[]}
 */
export function unknownNames({ ALL_SECTIONS, describeSettings }, names = Object.keys(readEnvFile())) {
  const known = new Set(describeSettings(ALL_SECTIONS).map(({ name }) => name));
  return names.filter((name) => !known.has(name) && !OF_OTHER_PROGRAMS.test(name));
}
