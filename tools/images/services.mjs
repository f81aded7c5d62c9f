import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../stack/runtime.mjs';

/** @typedef {{ name: string, target: string, environment: Record<string, string>, graceMs: number }} ComposedService */

/**
 * The services of docker-compose.yml that are built here and started by `up`.
 *
 * @param {Record<string, string>} given the contents of `.env`
 * @returns {ComposedService[]}
 */
export function composedServices(given) {
  const { services } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true });
  return Object.entries(services)
    .filter(([, { build, profiles = [] }]) => build !== undefined && profiles.length === 0)
    .map(([name, { build, environment = {}, stop_grace_period = '10s' }]) => ({
      name,
      target: build.target,
      environment: Object.fromEntries(
        Object.entries(environment).map(([key, value]) => [key, substituted(String(value), given)]),
      ),
      graceMs: Number.parseInt(stop_grace_period, 10) * 1_000,
    }));
}

/** Substitutes `${NAME:-else}` and `${NAME:?why}` as Compose does. */
function substituted(value, given) {
  return value.replaceAll(/\$\{([A-Z_]+):([-?])([^}]*)\}/g, (_all, name, kind, rest) => {
    const found = given[name] || undefined;
    if (found === undefined && kind === '?') throw new Error(`docker-compose.yml asks for ${name}: ${rest}`);
    return found ?? rest;
  });
}
