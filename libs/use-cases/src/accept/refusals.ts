import { parseId, Refusal } from '@posthorn/kernel';
import { startOfNextMonth } from '@posthorn/domain';
import type { AcceptableEmail, AcceptanceOutcome, AllowedSenders } from '@posthorn/database';
import { adviceOnUnsubscribeUrl } from '../unsubscribe/unsubscribe-variable.ts';

const RETRY_AFTER_SECONDS = 2;
/** The answer of an email; that of a batch begins otherwise. */
const ANSWERED_EMAIL = /^\{"id":"(trs_[0-9a-z]{26})"/;

export type RefusedOutcome = Exclude<AcceptanceOutcome, { kind: 'accepted' | 'replayed' }>;

/** The refusal of an email that was not accepted. */
export function refusalOf(outcome: RefusedOutcome, email: AcceptableEmail): Refusal {
  switch (outcome.kind) {
    case 'unverified':
      return unverifiedSender(senderOf(email), outcome);
    case 'over_limit':
      return monthlyLimitReached(outcome.used, outcome.monthlyLimit, email.acceptedAt);
    case 'contended':
      return unavailable();
  }
}

function senderOf(email: AcceptableEmail): { address: string; template: string | undefined } {
  return { address: email.from.address, template: email.type === 'templated' ? email.template : undefined };
}

/** The workspace may not send from this address, which is that of the call, or of its template. */
export function unverifiedSender(
  { address, template }: { readonly address: string; readonly template?: string | undefined },
  { addresses, domains, unverified }: AllowedSenders,
): Refusal {
  const [from, mend] =
    template === undefined
      ? ['`from`', 'send from one of those listed, or verify this one first']
      : [
          `\`from\` of the template ${JSON.stringify(template)}`,
          'give the template one of those listed, or verify this one first',
        ];
  return new Refusal(
    400,
    `${from} is ${address}, which is neither a verified address nor on a verified domain of this workspace; ${mend}${unverified === null ? '' : `: ${nextStepOf(unverified)}`}`,
    { allowedEmails: addresses, allowedDomains: domains, docsPage: 'unverified-sender' },
  );
}

function nextStepOf({ id, value }: NonNullable<AllowedSenders['unverified']>): string {
  const verify = `\`POST /v1/identities/${id}/verify\``;
  return value.includes('@')
    ? `the address ${value} is added but not verified; use the link in the mail that was sent there (${verify} sends another)`
    : `the domain ${value} is added but not verified; \`GET /v1/identities/${id}\` says which DNS record is missing or wrong, and ${verify} looks for it at once`;
}

/** The workspace has used up the month of this time. */
export function monthlyLimitReached(used: number, monthlyLimit: number, at: Date): Refusal {
  return new Refusal(
    403,
    `The monthly sending limit of ${monthlyLimit} emails is reached (${used} used); it resets at ${startOfNextMonth(at).toISOString()}`,
  );
}

/** The key was used with another payload. @param answer what that was answered; if it is an email, the message names it */
export function keyReused(answer: string): Refusal {
  const emailId = ANSWERED_EMAIL.exec(answer)?.[1];
  const wasFor = emailId === undefined ? '' : `, for ${emailId}`;
  return new Refusal(
    409,
    `The idempotency key was used before with another payload${wasFor}; repeat that payload, or use a new key`,
  );
}

/** An item of a batch has the same idempotency key as the whole call. */
export function keyIsOfBatch(): Refusal {
  return new Refusal(
    409,
    '`idempotencyKey` is also the `Idempotency-Key` header, which is the key of the whole batch; give the item a key of its own, or none',
  );
}

/** The template requires variables that the call does not give, or gives as null. All are named: a template is limited in how many it has. */
export function missingVariablesOf(template: string, missing: readonly string[]): Refusal {
  const named = missing.map((path) => `\`variables.${path}\``);
  const [are, them] = missing.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return new Refusal(
    400,
    `${named.join(', ')} ${are} missing or null: the template ${JSON.stringify(template)} prints ${them} and has no default; ` +
      `give ${them} a value ("" prints nothing), or give ${them} a default in the template` +
      adviceOnUnsubscribeUrl(missing),
    { docsPage: 'invalid-payload' },
  );
}

/** No template of the workspace has this name. */
export function noSuchTemplate(name: string): Refusal {
  const mend = parseId('tpl', name) ? 'give the `name` of the template, not its id' : 'create it first';
  return new Refusal(
    400,
    `\`template\` names no template of this workspace: ${JSON.stringify(name)}; ${mend}`,
  );
}

/** Nothing was accepted, or the outcome is unknown: the caller should retry. */
export function unavailable(cause?: unknown): Refusal {
  return new Refusal(
    503,
    'The service cannot confirm this request right now; send it again, with an idempotency key if it must not be sent twice',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
    { cause },
  );
}
