import { Refusal } from '@posthorn/kernel';
import { isJsonObject, kindOf } from './rule.ts';
import { faultsInFields, shapeOf } from './shape.ts';
import { faultsInUnknown } from './unknown-fields.ts';

/**
 * Validates a JSON body by its request class.
 *
 * @returns an instance of the class: the body's fields, and the class's defaults for absent ones
 * @throws Refusal (400) that names all faults, including unknown fields
 */
export function validateBody<Request extends object>(
  requestClass: new () => Request,
  body: unknown,
): Request {
  if (!isJsonObject(body)) throw new Refusal(400, `The body is ${kindOf(body)}; give an object`);
  const shape = shapeOf(requestClass);
  const faults = [...faultsInFields(shape, body), ...faultsInUnknown(shape, body)];
  if (faults.length > 0) throw new Refusal(400, faults.join('; '));
  return Object.assign(new requestClass(), body);
}
