import { Refusal } from '@posthorn/kernel';

/** The value. @throws Refusal (404) with this message when it is undefined */
export function orNotFound<Value>(value: Value | undefined, otherwise: string): Value {
  if (value === undefined) throw new Refusal(404, otherwise);
  return value;
}
