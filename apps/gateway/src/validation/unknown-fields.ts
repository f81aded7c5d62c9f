import { closestName, Refusal } from '@posthorn/kernel';
import type { Shape } from './shape.ts';

/** Longer names are truncated, so that an answer does not grow with the faults of the request. */
const SHOWN_CHARACTERS = 60;
const SHOWN_FIELDS = 50;
const UNKNOWN = 'is not a known field';

/**
 * The faults of unknown fields. Ignoring a misspelt field could be harmful: an email with `sendat` would be sent at once. Where no known
 * name is close, the fault lists all of them: a caller told to omit `deliverAt` would send at once, too.
 *
 * @param path the prefix of the names, such as `settings.`
 * @param explain gives the fault of a name that the caller knows more about
 */
export function faultsInUnknown(
  { names }: Pick<Shape, 'names'>,
  object: Readonly<Record<string, unknown>>,
  path = '',
  explain: (name: string) => string | undefined = () => undefined,
): string[] {
  const unknown = Object.keys(object).filter((name) => !names.includes(name));
  const reasons = unknown.slice(0, SHOWN_FIELDS).map((name) => explain(name) ?? advice(name, names));
  const faults = reasons.map((reason, at) => `\`${path}${shownName(unknown[at]!)}\` ${reason ?? UNKNOWN}`);
  const more = unknown.length - SHOWN_FIELDS;
  if (more > 0) faults.push(`${more} more ${more === 1 ? 'field is' : 'fields are'} not known`);
  if (reasons.includes(undefined))
    faults.push(
      `${names.length === 1 ? 'there is only' : 'there are'} ${names.map((name) => `\`${path}${name}\``).join(', ')}`,
    );
  return faults;
}

/** @throws Refusal (400) that names the fields, where none is allowed */
export function refuseFields(object: object, advice: string): void {
  const faults = faultsInUnknown({ names: [] }, { ...object }, '', () => UNKNOWN);
  if (faults.length > 0) throw new Refusal(400, `${faults.join('; ')}; ${advice}`);
}

/** Suggests the closest known name; undefined where there is none. */
function advice(name: string, known: readonly string[]): string | undefined {
  const closest = closestName(name, known);
  return closest === undefined ? undefined : `${UNKNOWN}; did you mean \`${closest}\`?`;
}

/** A name from a request, as refusals show it. */
export function shownName(name: string): string {
  const printable = name.slice(0, SHOWN_CHARACTERS).replace(/[\p{C}\p{Z}`]/gu, '�');
  return name.length > SHOWN_CHARACTERS ? `${printable}…` : printable;
}
