import { type EmailId, Refusal, sleep } from '@posthorn/kernel';
import {
  type AcceptableEmail,
  type AcceptanceOutcome,
  type AcceptanceStore,
  type DatabaseFault,
  faultOf,
} from '@posthorn/database';
import { unavailable } from './refusals.ts';

const CONFLICT_TRIES = 3;
/** After this long of not knowing whether a group was committed the callers are told to ask again. */
const UNSURE_AFTER_MS = 5_000;
const LOOK_AGAIN_MS = 200;

/** Accepting as the group needs it. */
export type Acceptances = Pick<AcceptanceStore, 'accept' | 'findAccepted'>;

/**
 * Accepts a group whatever happens to its transaction: refused data is judged item by item, a conflict is tried again, and a
 * COMMIT whose answer was lost is resolved. That is safe because the ids were made before the first try: while the
 * old transaction is undecided, inserting the same ids waits for it, and once it is committed they are found.
 *
 * @throws Refusal (503) when the database cannot be reached, or does not say within five seconds
 */
export async function acceptGroup(
  store: Acceptances,
  emails: readonly AcceptableEmail[],
  monthlyLimit: number | null,
): Promise<AcceptanceOutcome[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.accept(emails, monthlyLimit);
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'conflict' && tries < CONFLICT_TRIES) continue;
      return afterFault(fault, error, store, emails, monthlyLimit);
    }
  }
}

async function afterFault(
  fault: DatabaseFault,
  error: unknown,
  store: Acceptances,
  emails: readonly AcceptableEmail[],
  monthlyLimit: number | null,
): Promise<AcceptanceOutcome[]> {
  if (fault === 'lost') return resolveLost(store, emails, monthlyLimit);
  if (fault === 'locked') return acceptByWorkspace(error, store, emails, monthlyLimit);
  if (fault === 'unavailable' || fault === 'conflict') throw unavailable(error);
  if (fault === 'data' && emails.length > 1) return acceptOneByOne(store, emails, monthlyLimit);
  throw error;
}

/** A workspace whose usage or key somebody holds must not fail the others of its group. */
async function acceptByWorkspace(
  cause: unknown,
  store: Acceptances,
  emails: readonly AcceptableEmail[],
  monthlyLimit: number | null,
): Promise<AcceptanceOutcome[]> {
  const parts = [...Map.groupBy(emails, (email) => email.workspaceId).values()];
  if (parts.length === 1) throw unavailable(cause);
  const outcomes = await Promise.all(parts.map((part) => acceptPart(store, part, monthlyLimit)));
  const outcomeOf = new Map(parts.flatMap((part, n) => part.map((email, m) => [email.id, outcomes[n]![m]!])));
  return emails.map((email) => outcomeOf.get(email.id)!);
}

/** One item's refused data must not fail the others of its group. */
async function acceptOneByOne(
  store: Acceptances,
  emails: readonly AcceptableEmail[],
  monthlyLimit: number | null,
): Promise<AcceptanceOutcome[]> {
  const outcomes: AcceptanceOutcome[] = [];
  for (const email of emails) {
    const [outcome] = await acceptPart(store, [email], monthlyLimit);
    outcomes.push(outcome!);
    // Out of reach by now: whoever is left need not find that out one after the other.
    if (outcome!.kind === 'failed' && outcome!.error instanceof Refusal) break;
  }
  return emails.map((_email, index) => outcomes[index] ?? outcomes.at(-1)!);
}

/** Accepts a part of a group; what it fails with is the outcome of each of its emails, and of no others. */
async function acceptPart(
  store: Acceptances,
  part: readonly AcceptableEmail[],
  monthlyLimit: number | null,
): Promise<AcceptanceOutcome[]> {
  try {
    return await acceptGroup(store, part, monthlyLimit);
  } catch (error) {
    return part.map(() => ({ kind: 'failed', error }));
  }
}

async function resolveLost(
  store: Acceptances,
  emails: readonly AcceptableEmail[],
  monthlyLimit: number | null,
): Promise<AcceptanceOutcome[]> {
  const deadline = performance.now() + UNSURE_AFTER_MS;
  let lastError: unknown;
  while (performance.now() < deadline) {
    try {
      const found = await store.findAccepted(emails.map((email) => email.id));
      return await completeLost(store, emails, found, monthlyLimit);
    } catch (error) {
      // `data` here is the primary key: the old transaction was committed after all, and the next look finds it.
      if (faultOf(error) === 'other') throw error;
      lastError = error;
      await sleep(LOOK_AGAIN_MS);
    }
  }
  throw unavailable(lastError);
}

/** Those that are there were accepted; the others were refused, or the whole never happened: they are judged again. */
async function completeLost(
  store: Acceptances,
  emails: readonly AcceptableEmail[],
  found: ReadonlySet<EmailId>,
  monthlyLimit: number | null,
): Promise<AcceptanceOutcome[]> {
  const absent = emails.filter((email) => !found.has(email.id));
  const judged = absent.length === 0 ? [] : await store.accept(absent, monthlyLimit);
  const outcomeOf = new Map(absent.map((email, index) => [email.id, judged[index]!]));
  return emails.map((email) => outcomeOf.get(email.id) ?? { kind: 'accepted' });
}
