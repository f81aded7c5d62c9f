import { Refusal } from '@posthorn/kernel';
import { isJsonObject, kindOf } from './rule.ts';
import { faultsInFields, shapeOf } from './shape.ts';
import { faultsInUnknown } from './unknown-fields.ts';

/**
 * Judges a JSON body by its request class.
 *
 * @returns an instance of the class: what the body holds, and for an absent field what the class gives it
 * @throws Refusal (400) that names everything that is wrong, unknown fields too
 */
export function judgeBody<Request extends object>(requestClass: new () => Request, body: unknown): Request {
  if (!isJsonObject(body)) throw new Refusal(400, `The body is ${kindOf(body)}; give an object`);
  const shape = shapeOf(requestClass);
  const faults = [...faultsInFields(shape, body), ...faultsInUnknown(shape, body)];
  if (faults.length > 0) throw new Refusal(400, faults.join('; '));
  return Object.assign(new requestClass(), body);
}
