import { randomBytes } from 'node:crypto';
import { ConcurrencyLimit, Refusal } from '@posthorn/kernel';
import { OPERATOR_NAME, type RateLimit, type RateVerdict, wholeSeconds } from '@posthorn/domain';
import type {
  AdmittedSessions,
  NewSession,
  OperatorAccount,
  OperatorAccountStore,
  OperatorSessionStore,
  VouchedOperator,
} from '@posthorn/database';
import { bucketIdOf, type RateLimiter } from '@posthorn/queues';
import { hashSecret, isPassword } from '@posthorn/signing';

/** How often something may be done. */
interface Bound {
  readonly policy: string;
  readonly limit: RateLimit;
}

/** How long somebody stays signed in at most. */
export const SESSION_MS = 12 * 3_600_000;
/** And how long without doing anything. */
const IDLE_MS = 60 * 60_000;
/**
 * Guessing is hopeless: passwords are random. What is bounded is what comparing costs, and only for where it is asked from: a bound of a name
 * alone saves nothing, for there are names without end, and lets whoever knows one keep its owner out.
 */
const TRIES_OF_A_NETWORK: Bound = {
  policy: 'sign-in-network',
  limit: { amount: 30, periodSeconds: 60, burst: 30 },
};
/** A whole office may be behind one address: who tries one name over and over leaves something to the others. */
const TRIES_OF_A_NAME_THERE: Bound = {
  policy: 'sign-in-name',
  limit: { amount: 10, periodSeconds: 60, burst: 10 },
};
/** How often the audit log is told that the tries of a network are used up: who goes on there must not fill it. */
const TOLD_OF_A_NETWORK: Bound = {
  policy: 'sign-in-told',
  limit: { amount: 1, periodSeconds: 3_600, burst: 1 },
};
/**
 * Comparing takes 64 MiB and one of the process's four threads. Of these the database needs one to let a new connection in, which waits for
 * three seconds and no longer.
 */
const COMPARISONS = {
  maxConcurrent: 2,
  maxWaiting: 100,
  refusal: () =>
    new Refusal(503, 'Too many sign in at once; try again in some seconds', { retryAfterSeconds: 5 }),
};
const TOKEN_BYTES = 32;
const MAX_CHARACTERS = 256;

/** A try to sign in. */
interface Try {
  /** Empty: none was given. */
  readonly name: string;
  /** Where it comes from, as it is counted. */
  readonly network: string;
}

/** What somebody gave who wants to sign in. */
interface Credentials extends Try {
  readonly password: string;
}

/** Who is signed in to the dashboard. */
export class OperatorSessions {
  private readonly comparisons = new ConcurrencyLimit(COMPARISONS);

  constructor(
    private readonly accounts: Pick<OperatorAccountStore, 'passwordHashOf' | 'isEmpty'>,
    private readonly sessions: OperatorSessionStore,
    private readonly limiter: Pick<RateLimiter, 'judge'>,
    private readonly admitted: AdmittedSessions,
  ) {}

  /**
   * Signs somebody in; the audit log is told.
   *
   * @returns the token of the session: 256 random bits, of which only the digest is stored
   * @throws Refusal 401 for another name or password, 403 where passwords are switched off, 429 after too many tries, 503 while
   *   too many others wait for theirs
   */
  async signIn({ name, password, network }: Credentials): Promise<string> {
    if (!this.admitted.ofAccounts) throw new Refusal(403, 'Nobody signs in by password here');
    // First, so that what it refuses uses up nothing of the others there.
    await this.countTry(TRIES_OF_A_NAME_THERE, `${network} ${name}`, { network, name });
    await this.countTryFrom(network, name);
    const written = OPERATOR_NAME.test(name) ? await this.accounts.passwordHashOf(name) : undefined;
    const isRight = await this.comparisons.run(() => isPassword(password.slice(0, MAX_CHARACTERS), written));
    const token = newToken();
    if (!isRight || !(await this.sessions.signIn(name, written!, sessionOf(token, network))))
      throw new Refusal(401, 'Name or password are wrong');
    return token;
  }

  /** Signs in somebody whom the identity provider has vouched for; the audit log is told. @returns the token of the session */
  async signInVouched(operator: VouchedOperator, network: string): Promise<string> {
    const token = newToken();
    await this.sessions.signInVouched(operator, sessionOf(token, network));
    return token;
  }

  /** Counts a try to sign in, from wherever it comes. @throws Refusal 429 after too many */
  countTryFrom(network: string, name = ''): Promise<void> {
    return this.countTry(TRIES_OF_A_NETWORK, network, { network, name });
  }

  /**
   * Whose session the token is of; undefined: nobody's, or it has ended.
   *
   * @param isUse whether somebody did something; what a page asks for by itself keeps no session alive
   */
  async find(token: string, isUse: boolean): Promise<OperatorAccount | undefined> {
    const look = { maxAgeMs: SESSION_MS, maxIdleMs: IDLE_MS, isUse };
    return this.sessions.find(hashSecret(token), look, this.admitted);
  }

  /** Ends the session; the audit log is told. */
  async signOut(token: string, network: string): Promise<void> {
    await this.sessions.signOut(hashSecret(token), network);
  }

  /** Whether there is nobody yet who could sign in. */
  async isClosed(): Promise<boolean> {
    return this.admitted.issuer === undefined && (await this.accounts.isEmpty());
  }

  private async countTry(bound: Bound, whom: string, { network, name }: Try): Promise<void> {
    const { allowed, nextAfterMs } = await this.take(bound, whom);
    if (allowed) return;
    if ((await this.take(TOLD_OF_A_NETWORK, network)).allowed)
      await this.sessions.recordRefusal(network, OPERATOR_NAME.test(name) ? name : null);
    const retryAfterSeconds = wholeSeconds(nextAfterMs);
    throw new Refusal(429, `Too many tries to sign in; wait ${retryAfterSeconds} s and try again`, {
      retryAfterSeconds,
    });
  }

  private take({ policy, limit }: Bound, whom: string): Promise<RateVerdict> {
    // Neither a name nor an address is written into Redis.
    return this.limiter.judge(policy, bucketIdOf(whom), limit);
  }
}

function sessionOf(token: string, network: string): NewSession {
  return { tokenHash: hashSecret(token), network, maxAgeMs: SESSION_MS };
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}
