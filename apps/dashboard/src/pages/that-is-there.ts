import { Refusal } from '@posthorn/kernel';

/** What an address leads to. @throws Refusal (404) that says so when there is nothing */
export function thatIsThere<Value>(value: Value | undefined, otherwise: string): Value {
  if (value === undefined) throw new Refusal(404, otherwise);
  return value;
}
