import { Refusal } from '@posthorn/kernel';

type Invalid = { readonly fault: string };

/** The parsed value of a field. @throws Refusal (400) when it is invalid */
export function requireValid<Parsed extends object>(
  field: string,
  parsed: Parsed | Invalid,
): Exclude<Parsed, Invalid> {
  if ('fault' in parsed) throw new Refusal(400, `\`${field}\` ${parsed.fault}`);
  return parsed as Exclude<Parsed, Invalid>;
}
