import { IMAGE_PROXIES, MACHINE_WORDS, PREFETCHING_AGENTS } from './machine-agents.ts';

/** What somebody did with an email. */
export type HitKind = 'open' | 'click';

/** By what a program was known: it asked for the header alone, said that it loads ahead, is known by its name, or came sooner than anybody reads. */
export type MachineSign = 'method' | 'prefetch' | 'user_agent' | 'too_soon';

/** What is looked at of a request to know a program. None of it is kept. */
export interface ReaderTraits {
  readonly kind: HitKind;
  readonly method: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Nobody has read an email so soon after it left; whoever checks emails for their receivers has. */
const TOO_SOON_MS = 2_000;
/** An email that has not left, as far as we know, is being checked while it is handed over; after so long, its answer was lost. */
const HANDOVER_MS = 600_000;
const PREFETCH_HEADERS = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz'];
const PREFETCHES = /prefetch|prerender|preview/i;
const MAX_CHARACTERS = 1_024;

/** By what the request shows that no person made it; undefined: it shows nothing of the kind. */
export function machineSign({ kind, method, headers }: ReaderTraits): MachineSign | undefined {
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
  return MACHINE_WORDS.some((word) => agent.includes(word));
}

/**
 * Whether a hit came sooner than a person could have caused it.
 *
 * @param sentAt when the relay took the email; null: as far as we know it has not
 * @param dueAt when the email fell due
 */
export function isTooSoon(at: Date, sentAt: Date | null, dueAt: Date): boolean {
  return sentAt === null
    ? at.getTime() < dueAt.getTime() + HANDOVER_MS
    : at.getTime() < sentAt.getTime() + TOO_SOON_MS;
}
