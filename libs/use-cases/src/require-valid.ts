import { Refusal } from '@posthorn/kernel';

type Faulty = { readonly fault: string };

/** The parsed value of a field. @throws Refusal (400) when it is invalid */
export function judged<Parsed extends object>(
  field: string,
  parsed: Parsed | Faulty,
): Exclude<Parsed, Faulty> {
  if ('fault' in parsed) throw new Refusal(400, `\`${field}\` ${parsed.fault}`);
  return parsed as Exclude<Parsed, Faulty>;
}
