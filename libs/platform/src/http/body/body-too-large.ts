import { Refusal } from '@posthorn/kernel';

const UNITS = [
  ['MiB', 1024 * 1024],
  ['KiB', 1024],
] as const;

/**
 * The refusal of a body that is too large (RFC 9110, section 15.5.14).
 *
 * @param max the limit, in bytes
 * @param announced its `Content-Length`, if there is one
 */
export function bodyTooLarge(max: number, announced?: number): Refusal {
  const how =
    announced === undefined
      ? 'is larger than'
      : `has ${formatNumber(announced)} bytes, ${formatNumber(announced - max)} more than`;
  return new Refusal(
    413,
    `The body ${how} the ${formatSize(max)} allowed here; make it smaller, or spread it over several requests`,
  );
}

/** A size for people: `10 MiB (10,485,760 bytes)`. */
function formatSize(bytes: number): string {
  const unit = UNITS.find(([, size]) => bytes % size === 0);
  if (unit === undefined) return `${formatNumber(bytes)} bytes`;
  return `${formatNumber(bytes / unit[1])} ${unit[0]} (${formatNumber(bytes)} bytes)`;
}

function formatNumber(amount: number): string {
  return amount.toLocaleString('en-US');
}
