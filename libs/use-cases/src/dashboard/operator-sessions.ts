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

/** A rate limit. */
interface Bound {
  readonly policy: string;
  readonly limit: RateLimit;
}

/** The maximum duration of a session. */
export const SESSION_MS = 12 * 3_600_000;
/** The maximum time without activity. */
const IDLE_MS = 60 * 60_000;
/**
 * Passwords are random, so guessing is hopeless; what is limited is the cost of comparing, and only per network. A limit per name alone
 * would not help: names are unlimited, and whoever knows one could lock its owner out.
 */
const TRIES_OF_A_NETWORK: Bound = {
  policy: 'sign-in-network',
  limit: { amount: 30, periodSeconds: 60, burst: 30 },
};
/** A whole office may share one address: whoever keeps trying one name leaves attempts to the others. */
const TRIES_OF_A_NAME_THERE: Bound = {
  policy: 'sign-in-name',
  limit: { amount: 10, periodSeconds: 60, burst: 10 },
};
/** How often the audit log records that a network has used up its attempts, so that continued attempts do not fill it. */
const TOLD_OF_A_NETWORK: Bound = {
  policy: 'sign-in-told',
  limit: { amount: 1, periodSeconds: 3_600, burst: 1 },
};
/**
 * Comparing takes 64 MiB and one of the process's four threads. The database needs one of these to open a connection, which waits for three
 * seconds at most.
 */
const COMPARISONS = {
  maxConcurrent: 2,
  maxWaiting: 100,
  refusal: () =>
    new Refusal(503, 'Too many sign in at once; try again in a few seconds', { retryAfterSeconds: 5 }),
};
const TOKEN_BYTES = 32;
const MAX_CHARACTERS = 256;

/** An attempt to sign in. */
interface Try {
  /** Empty: none was given. */
  readonly name: string;
  /** The network that it comes from, as used for the limits. */
  readonly network: string;
}

/** The credentials of an attempt to sign in. */
interface Credentials extends Try {
  readonly password: string;
}

/** The sessions of the dashboard. */
export class OperatorSessions {
  private readonly comparisons = new ConcurrencyLimit(COMPARISONS);

  constructor(
    private readonly accounts: Pick<OperatorAccountStore, 'passwordHashOf' | 'isEmpty'>,
    private readonly sessions: OperatorSessionStore,
    private readonly limiter: Pick<RateLimiter, 'takeToken'>,
    private readonly admitted: AdmittedSessions,
  ) {}

  /**
   * Signs an operator in, and records it in the audit log.
   *
   * @returns the token of the session: 256 random bits, of which only the digest is stored
   * @throws Refusal 401 for a wrong name or password, 403 where passwords are disabled, 429 after too many attempts, 503 while
   * too many others are waiting
   */
  async signIn({ name, password, network }: Credentials): Promise<string> {
    if (!this.admitted.ofAccounts) throw new Refusal(403, 'Nobody signs in by password here');
    // First, so that an attempt refused here does not use up those of others on the network.
    await this.countTry(TRIES_OF_A_NAME_THERE, `${network} ${name}`, { network, name });
    await this.countTryFrom(network, name);
    const written = OPERATOR_NAME.test(name) ? await this.accounts.passwordHashOf(name) : undefined;
    const isRight = await this.comparisons.run(() => isPassword(password.slice(0, MAX_CHARACTERS), written));
    const token = newToken();
    if (!isRight || !(await this.sessions.signIn(name, written!, sessionOf(token, network))))
      throw new Refusal(401, 'Name or password are wrong');
    return token;
  }

  /**
   * Signs in an operator whom the identity provider has authenticated, and records it in the audit log. @returns the token of the session
   */
  async signInVouched(operator: VouchedOperator, network: string): Promise<string> {
    const token = newToken();
    await this.sessions.signInVouched(operator, sessionOf(token, network));
    return token;
  }

  /** Counts an attempt to sign in. @throws Refusal 429 after too many */
  countTryFrom(network: string, name = ''): Promise<void> {
    return this.countTry(TRIES_OF_A_NETWORK, network, { network, name });
  }

  /**
   * The operator whose session has this token; undefined: there is none, or it has ended.
   *
   * @param isUse whether the operator did something; requests that a page makes by itself do not extend a session
   */
  async find(token: string, { isUse }: { readonly isUse: boolean }): Promise<OperatorAccount | undefined> {
    const look = { maxAgeMs: SESSION_MS, maxIdleMs: IDLE_MS, isUse };
    return this.sessions.find(hashSecret(token), look, this.admitted);
  }

  /** Ends the session, and records it in the audit log. */
  async signOut(token: string, network: string): Promise<void> {
    await this.sessions.signOut(hashSecret(token), network);
  }

  /** Whether there is no operator yet who could sign in. */
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
    // Hashed, so that neither names nor addresses are written to Redis.
    return this.limiter.takeToken(policy, bucketIdOf(whom), limit);
  }
}

function sessionOf(token: string, network: string): NewSession {
  return { tokenHash: hashSecret(token), network, maxAgeMs: SESSION_MS };
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}
