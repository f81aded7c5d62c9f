import { Refusal } from '@posthorn/kernel';
import { closestName } from './closest-name.ts';
import type { Shape } from './shape.ts';

/** Longer names are cut before they are shown: an answer must not grow with what is wrong in the request. */
const SHOWN_CHARACTERS = 60;
const SHOWN_FIELDS = 10;
const UNKNOWN = 'is not a known field';

/**
 * Names the fields that a shape does not have. A misspelt field that were ignored could change what happens: an email
 * with `sendat` would leave at once. Where no name is near, all of them are said: whoever were told to leave `deliverAt` out would send at
 * once, too.
 *
 * @param path what stands before the names, such as `settings.`
 * @param explain says more about a name where the caller knows more than that it is unknown
 */
export function faultsInUnknown(
  { names }: Pick<Shape, 'names'>,
  object: Readonly<Record<string, unknown>>,
  path = '',
  explain: (name: string) => string | undefined = () => undefined,
): string[] {
  const unknown = Object.keys(object).filter((name) => !names.includes(name));
  const reasons = unknown.slice(0, SHOWN_FIELDS).map((name) => explain(name) ?? advice(name, names));
  const faults = reasons.map((reason, at) => `\`${path}${shown(unknown[at]!)}\` ${reason ?? UNKNOWN}`);
  if (unknown.length > SHOWN_FIELDS)
    faults.push(`${unknown.length - SHOWN_FIELDS} more fields are not known`);
  if (reasons.includes(undefined))
    faults.push(`there are ${names.map((name) => `\`${path}${name}\``).join(', ')}`);
  return faults;
}

/** @throws Refusal (400) that names the fields of what is to have none */
export function refuseFields(object: object, advice: string): void {
  const faults = faultsInUnknown({ names: [] }, { ...object }, '', () => UNKNOWN);
  if (faults.length > 0) throw new Refusal(400, `${faults.join('; ')}; ${advice}`);
}

/** Undefined where no known name is near. */
function advice(name: string, known: readonly string[]): string | undefined {
  const closest = closestName(name, known);
  return closest === undefined ? undefined : `${UNKNOWN}; did you mean \`${closest}\`?`;
}

function shown(name: string): string {
  const printable = name.slice(0, SHOWN_CHARACTERS).replace(/[\p{C}\p{Z}`]/gu, '�');
  return name.length > SHOWN_CHARACTERS ? `${printable}…` : printable;
}
