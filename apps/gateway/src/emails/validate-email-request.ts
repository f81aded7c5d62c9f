import { Refusal } from '@posthorn/kernel';
import { isJsonObject, kindOf } from '../validation/rule.ts';
import { faultsInFields, type Shape, shapeOf } from '../validation/shape.ts';
import { faultsInUnknown } from '../validation/unknown-fields.ts';
import { adviceForForeignField, equivalentOf } from './foreign-field-names.ts';
import { RawEmailRequest, TemplatedEmailRequest } from './send-email.request.ts';

/** What is checked of an email, by whether it is a raw or a templated one. */
interface EmailKind {
  readonly shape: Shape;
  /** The shape of the other kind, and the fault of a field that only that one has. */
  readonly other: Shape;
  readonly ofOther: string;
  /** The fields that a name of another email service may stand for. */
  readonly equivalents: readonly string[];
}

const [RAW_SHAPE, TEMPLATED_SHAPE] = [shapeOf(RawEmailRequest), shapeOf(TemplatedEmailRequest)];
const RAW: EmailKind = {
  shape: RAW_SHAPE,
  other: TEMPLATED_SHAPE,
  ofOther: 'belongs to templated emails; name a `template` or leave it out',
  equivalents: [...RAW_SHAPE.names, 'template'],
};
const TEMPLATED: EmailKind = {
  shape: TEMPLATED_SHAPE,
  other: RAW_SHAPE,
  ofOther: 'belongs to raw emails, and an email with `template` is templated; leave one of the two out',
  equivalents: TEMPLATED_SHAPE.names,
};
const REQUIRED_OF_BOTH =
  'a raw email requires `from`, `to`, `subject` and `html`; a templated email requires `template`, `to` and, for what ' +
  'its template prints without a default, `variables`';

/** The refusal of a body that is JSON, but no object. */
export const NO_EMAIL = refusal(['The body must be a JSON object', REQUIRED_OF_BOTH]);

/**
 * Validates the shape of an email by its kind: one with `template` is templated, any other is raw. Does not check what needs the
 * current time or a look-up: the bounds of `sendAt`, the sender, the template.
 *
 * @param body from the JSON parser
 * @throws Refusal (400) that names all faults
 */
export function validateEmailRequest(body: unknown): RawEmailRequest | TemplatedEmailRequest {
  if (!isJsonObject(body)) throw refusal([`The email is ${kindOf(body)}; give an object`, REQUIRED_OF_BOTH]);
  const { shape, other, ofOther, equivalents } =
    isTemplated(body) || isMeantAsTemplated(body) ? TEMPLATED : RAW;
  const unknown = faultsInUnknown(shape, body, '', (name) =>
    other.names.includes(name) ? ofOther : adviceForForeignField(name, equivalents),
  );
  const faults = [...faultsInFields(shape, body), ...unknown];
  if (faults.length === 0) return body as unknown as RawEmailRequest | TemplatedEmailRequest;
  throw refusal(isOfNeitherKind(body, shape, other) ? [...faults, REQUIRED_OF_BOTH] : faults);
}

/** S1: a body with `template` is templated, any other is raw. */
export function isTemplated(email: object): email is TemplatedEmailRequest {
  return Object.hasOwn(email, 'template');
}

/** Whether a body names its template as other services do: told what a raw email requires, its caller would look for the wrong faults. */
function isMeantAsTemplated(body: object): boolean {
  return !Object.hasOwn(body, 'html') && Object.keys(body).some((name) => equivalentOf(name) === 'template');
}

/** Whether a required field is missing or no string, or there is a field of the other kind: then the kind may be a mistake. */
function isOfNeitherKind(body: Record<string, unknown>, { fields, names }: Shape, other: Shape): boolean {
  return (
    fields.some(({ field, description }) => description.isRequired && typeof body[field] !== 'string') ||
    Object.keys(body).some((name) => other.names.includes(name) && !names.includes(name))
  );
}

function refusal(faults: string[]): Refusal {
  return new Refusal(400, faults.join('; '), { docsPage: 'invalid-payload' });
}
