import { IMAGE_PROXIES, MACHINE_AGENT_WORDS, PHONE_MAKES, PREFETCHING_AGENTS } from './machine-agents.ts';

/** The kinds of tracked actions. */
export type HitKind = 'open' | 'click';

/** How a program was recognised: by a method other than GET, a prefetch header, its user agent, or a hit sooner than a person could read. */
export type MachineSign = 'method' | 'prefetch' | 'user_agent' | 'too_soon';

/** The data of a request by which programs are recognised. It is not stored. */
export interface TrackingRequest {
  readonly kind: HitKind;
  readonly method: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Hits within this time after sending come from security scanners, not from people. */
const TOO_SOON_MS = 2_000;
/** A hit before an email is recorded as sent comes from a scanner during the transmission; after this time, the relay's reply must have been lost. */
const HANDOVER_MS = 600_000;
const PREFETCH_HEADERS = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz'];
const PREFETCHES = /prefetch|prerender|preview/i;
const MAX_CHARACTERS = 1_024;

/** The sign by which a request is recognised as that of a program; undefined: there is none. */
export function machineSign({ kind, method, headers }: TrackingRequest): MachineSign | undefined {
  if (method !== 'GET') return 'method';
  if (PREFETCH_HEADERS.some((name) => PREFETCHES.test(String(headers[name] ?? '')))) return 'prefetch';
  const agent = String(headers['user-agent'] ?? '')
    .slice(0, MAX_CHARACTERS)
    .trim()
    .toLowerCase();
  return isMachine(kind, agent) ? 'user_agent' : undefined;
}

function isMachine(kind: HitKind, agent: string): boolean {
  if (kind === 'open' && IMAGE_PROXIES.some((name) => agent.includes(name))) return false;
  if (agent === '' || PREFETCHING_AGENTS.includes(agent)) return true;
  const words = PHONE_MAKES.reduce((text, make) => text.replaceAll(make, ''), agent);
  return MACHINE_AGENT_WORDS.some((word) => words.includes(word));
}

/**
 * Whether a hit came sooner than a person could have caused it.
 *
 * @param sentAt when the relay accepted the email; null: not as far as we know
 * @param dueAt when the email fell due
 */
export function isTooSoon(at: Date, sentAt: Date | null, dueAt: Date): boolean {
  return sentAt === null
    ? at.getTime() < dueAt.getTime() + HANDOVER_MS
    : at.getTime() < sentAt.getTime() + TOO_SOON_MS;
}
