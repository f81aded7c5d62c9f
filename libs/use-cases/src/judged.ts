import { Refusal } from '@posthorn/kernel';

type Faulty = { readonly fault: string };

/** What a field was found to say. @throws Refusal (400) when it has a fault */
export function judged<Parsed extends object>(
  field: string,
  parsed: Parsed | Faulty,
): Exclude<Parsed, Faulty> {
  if ('fault' in parsed) throw new Refusal(400, `\`${field}\` ${parsed.fault}`);
  return parsed as Exclude<Parsed, Faulty>;
}
