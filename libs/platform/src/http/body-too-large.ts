import { Refusal } from '@posthorn/kernel';

const UNITS = [
  ['MiB', 1024 * 1024],
  ['KiB', 1024],
] as const;

/**
 * What is said of a body beyond its bound (RFC 9110, section 15.5.14).
 *
 * @param max the bound, in bytes
 * @param announced how many bytes it has, as far as its header says so
 */
export function bodyTooLarge(max: number, announced?: number): Refusal {
  const how =
    announced === undefined
      ? 'is larger than'
      : `has ${grouped(announced)} bytes, ${grouped(announced - max)} more than`;
  return new Refusal(
    413,
    `The body ${how} the ${shown(max)} that are possible here; make it smaller, or spread it over several requests`,
  );
}

/** As people say it, with its bytes: `10 MiB (10,485,760 bytes)`. */
function shown(bytes: number): string {
  const unit = UNITS.find(([, size]) => bytes >= size && bytes % size === 0);
  if (unit === undefined) return `${grouped(bytes)} bytes`;
  return `${grouped(bytes / unit[1])} ${unit[0]} (${grouped(bytes)} bytes)`;
}

function grouped(amount: number): string {
  return amount.toLocaleString('en-US');
}
