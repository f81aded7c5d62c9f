import { Refusal } from '@posthorn/kernel';
import { isJsonObject, kindOf } from '../validation/rule.ts';
import { faultsInFields, shapeOf, type Shape } from '../validation/shape.ts';
import { faultsInUnknown } from '../validation/unknown-fields.ts';
import { knownElsewhere } from './elsewhere-names.ts';
import { RawEmailRequest, TemplatedEmailRequest } from './send-email.request.ts';

const RAW = shapeOf(RawEmailRequest);
const TEMPLATED = shapeOf(TemplatedEmailRequest);

const REQUIRED_OF_RAW = ['from', 'to', 'subject', 'html'] as const;
const REQUIRED_OF_TEMPLATED = ['template', 'to'] as const;
const REQUIRED_OF_BOTH =
  'a raw email requires `from`, `to`, `subject` and `html`; a templated email requires `template`, `to` and, for what ' +
  'its template prints without a default, `variables`';

/** What is said of a body of one email that is JSON and no object. */
export const NO_EMAIL = refusal(['The body must be a JSON object', REQUIRED_OF_BOTH]);

/**
 * Decides which kind of email a body asks for (one with `template` is templated, any other is raw) and whether its shape
 * is sound. What needs the time or a look-up (the bounds of `sendAt`, the sender, the template) is not judged here.
 *
 * @param body what the JSON parser gave
 * @throws Refusal (400) that names everything that is wrong
 */
export function judgeEmailRequest(body: unknown): RawEmailRequest | TemplatedEmailRequest {
  if (!isJsonObject(body)) throw refusal([`the email is ${kindOf(body)}; give an object`, REQUIRED_OF_BOTH]);
  return isTemplated(body) ? judgeTemplated(body) : judgeRaw(body);
}

/** S1: a body with `template` is templated, any other is raw. */
export function isTemplated(email: object): email is TemplatedEmailRequest {
  return Object.hasOwn(email, 'template');
}

function judgeRaw(body: Record<string, unknown>): RawEmailRequest {
  const unknown = faultsInUnknown(RAW, body, '', (name) => {
    if (!TEMPLATED.names.includes(name)) return knownElsewhere(name, [...RAW.names, 'template']);
    return 'belongs to templated emails; name a `template` or leave it out';
  });
  refuseFaults(RAW, body, unknown, REQUIRED_OF_RAW);
  return body as unknown as RawEmailRequest;
}

function judgeTemplated(body: Record<string, unknown>): TemplatedEmailRequest {
  const unknown = faultsInUnknown(TEMPLATED, body, '', (name) => {
    if (!RAW.names.includes(name)) return knownElsewhere(name, TEMPLATED.names);
    return 'belongs to raw emails, and an email with `template` is templated; leave one of the two out';
  });
  refuseFaults(TEMPLATED, body, unknown, REQUIRED_OF_TEMPLATED);
  return body as unknown as TemplatedEmailRequest;
}

function refuseFaults(
  shape: Shape,
  body: Record<string, unknown>,
  unknown: string[],
  required: readonly string[],
): void {
  const faults = [...faultsInFields(shape, body), ...unknown];
  if (faults.length === 0) return;
  if (required.some((name) => typeof body[name] !== 'string')) faults.push(REQUIRED_OF_BOTH);
  throw refusal(faults);
}

function refusal(faults: string[]): Refusal {
  return new Refusal(400, faults.join('; '), { docsPage: 'invalid-payload' });
}
