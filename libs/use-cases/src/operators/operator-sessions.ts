import { createHash, randomBytes } from 'node:crypto';
import { Refusal } from '@posthorn/kernel';
import { OPERATOR_NAME, type RateLimit, wholeSeconds } from '@posthorn/domain';
import type {
  AdmittedSessions,
  OperatorAccount,
  OperatorAccountStore,
  VouchedOperator,
} from '@posthorn/database';
import type { RateLimiter } from '@posthorn/queues';
import { isPassword } from '@posthorn/signing';

/** How long somebody stays signed in at most. */
export const SESSION_MS = 12 * 3_600_000;
/** And how long without doing anything. */
const IDLE_MS = 60 * 60_000;
/**
 * Guessing is hopeless: passwords are random. What is bounded is what comparing costs, and only for where it is asked from: a bound of a name
 * alone saves nothing, for there are names without end, and lets whoever knows one keep its owner out.
 */
const TRIES_OF_A_NETWORK: RateLimit = { amount: 30, periodSeconds: 60, burst: 30 };
/** A whole office may be behind one address: who tries one name over and over leaves something to the others. */
const TRIES_OF_A_NAME_THERE: RateLimit = { amount: 10, periodSeconds: 60, burst: 10 };
const TOKEN_BYTES = 32;
const MOST_CHARACTERS = 256;

/** What somebody gave who wants to sign in. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** Where it comes from, as it is counted. */
  readonly network: string;
}

/** Who is signed in to the dashboard. */
export class OperatorSessions {
  constructor(
    private readonly accounts: Pick<
      OperatorAccountStore,
      'passwordHashOf' | 'signIn' | 'signInVouched' | 'findSession' | 'signOut' | 'isEmpty'
    >,
    private readonly limiter: Pick<RateLimiter, 'judge'>,
    private readonly admitted: AdmittedSessions = { ofAccounts: true, issuer: undefined },
  ) {}

  /**
   * Signs somebody in.
   *
   * @returns the token of the session: 256 random bits, of which only the digest is stored
   * @throws Refusal 401 for another name or password, 403 where passwords are switched off, 429 after too many tries
   */
  async signIn({ name, password, network }: Credentials): Promise<string> {
    if (!this.admitted.ofAccounts) throw new Refusal(403, 'Nobody signs in by password here');
    // First, so that what it refuses uses up nothing of the others there.
    await this.countTry('sign-in-name', `${network} ${name}`, TRIES_OF_A_NAME_THERE);
    await this.countTryFrom(network);
    const written = OPERATOR_NAME.test(name) ? await this.accounts.passwordHashOf(name) : undefined;
    const isRight = await isPassword(password.slice(0, MOST_CHARACTERS), written);
    const token = newToken();
    if (!isRight || !(await this.accounts.signIn(name, written!, digestOf(token), SESSION_MS)))
      throw new Refusal(401, 'Name or password are wrong');
    return token;
  }

  /** Signs in somebody whom the identity provider has vouched for. @returns the token of the session */
  async signInVouched(operator: VouchedOperator): Promise<string> {
    const token = newToken();
    await this.accounts.signInVouched(operator, digestOf(token), SESSION_MS);
    return token;
  }

  /** Counts a try to sign in, from wherever it comes. @throws Refusal 429 after too many */
  countTryFrom(network: string): Promise<void> {
    return this.countTry('sign-in-network', network, TRIES_OF_A_NETWORK);
  }

  /**
   * Whose session the token is of; undefined: nobody's, or it has ended.
   *
   * @param isUse whether somebody did something; what a page asks for by itself keeps no session alive
   */
  async find(token: string, isUse: boolean): Promise<OperatorAccount | undefined> {
    const look = { maxAgeMs: SESSION_MS, maxIdleMs: IDLE_MS, isUse };
    return this.accounts.findSession(digestOf(token), look, this.admitted);
  }

  async signOut(token: string): Promise<void> {
    await this.accounts.signOut(digestOf(token));
  }

  /** Whether there is nobody yet who could sign in. */
  async isClosed(): Promise<boolean> {
    return this.admitted.issuer === undefined && (await this.accounts.isEmpty());
  }

  private async countTry(policy: string, whom: string, limit: RateLimit): Promise<void> {
    // Neither a name nor an address is written into Redis.
    const id = createHash('sha256').update(whom).digest('base64url').slice(0, 22);
    const { allowed, nextAfterMs } = await this.limiter.judge(policy, id, limit);
    if (allowed) return;
    const retryAfterSeconds = wholeSeconds(nextAfterMs);
    throw new Refusal(429, `Too many tries to sign in; wait ${retryAfterSeconds} s and try again`, {
      retryAfterSeconds,
    });
  }
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
