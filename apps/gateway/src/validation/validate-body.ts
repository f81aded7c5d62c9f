import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { bodyIfAny } from '@posthorn/platform';
import type { Request } from 'express';
import { isJsonObject, kindOf } from './rule.ts';
import { faultsInFields, shapeOf } from './shape.ts';
import { faultsInUnknown } from './unknown-fields.ts';

/**
 * Validates a JSON body by its request class.
 *
 * @param explain gives the fault of an unknown field that the caller knows more about
 * @returns an instance of the class: the body's fields, and the class's defaults for absent ones
 * @throws Refusal (400) that names all faults, including unknown fields
 */
export function validateBody<Request extends object>(
  requestClass: new () => Request,
  body: unknown,
  explain?: (name: string) => string | undefined,
): Request {
  if (!isJsonObject(body)) throw new Refusal(400, `The body is ${kindOf(body)}; give an object`);
  const shape = shapeOf(requestClass);
  const faults = [...faultsInFields(shape, body), ...faultsInUnknown(shape, body, '', explain)];
  if (faults.length > 0) throw new Refusal(400, faults.join('; '));
  return Object.assign(new requestClass(), body);
}

/** Gives a handler an optional body: `{}` when it is missing or empty. Set `bodyIsOptional` in the route's description. */
export const OptionalBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): object =>
    bodyIfAny(context.switchToHttp().getRequest<Request>()) ?? {},
);
