import { closestName } from './closest-name.ts';
import type { Shape } from './shape.ts';

/** Longer names are cut before they are shown: an answer must not grow with what is wrong in the request. */
const SHOWN_CHARACTERS = 60;
const SHOWN_FIELDS = 10;

/**
 * Names the fields that a shape does not have. A misspelt field that were ignored could change what happens: an email
 * with `sendat` would leave at once.
 *
 * @param path what stands before the names, such as `settings.`
 * @param explain says more about a name where the caller knows more than that it is unknown
 */
export function faultsInUnknown(
  shape: Shape,
  object: Readonly<Record<string, unknown>>,
  path = '',
  explain: (name: string) => string | undefined = () => undefined,
): string[] {
  const unknown = Object.keys(object).filter((name) => !shape.names.includes(name));
  const faults = unknown.slice(0, SHOWN_FIELDS).map((name) => {
    const reason = explain(name) ?? `is not a known field; ${advice(name, shape.names)}`;
    return `\`${path}${shown(name)}\` ${reason}`;
  });
  if (unknown.length > SHOWN_FIELDS)
    faults.push(`${unknown.length - SHOWN_FIELDS} more fields are not known`);
  return faults;
}

function advice(name: string, known: readonly string[]): string {
  const closest = closestName(name, known);
  return closest === undefined ? 'leave it out' : `did you mean \`${closest}\`?`;
}

function shown(name: string): string {
  const printable = name.slice(0, SHOWN_CHARACTERS).replace(/[\p{C}\p{Z}`]/gu, '�');
  return name.length > SHOWN_CHARACTERS ? `${printable}…` : printable;
}
