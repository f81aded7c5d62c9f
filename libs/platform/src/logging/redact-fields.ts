const REDACTED = '[redacted]';
const MAX_DEPTH = 6;

/** Names (lower case, without `-` and `_`) whose values are never logged, at whatever depth they stand. */
const SECRET_FIELDS = new Set([
  // What lets somebody in.
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xservicesignature',
  'webhooksignature',
  'token',
  'secret',
  'secretkey',
  'apikey',
  'password',
  'pass',
  'privatekey',
  'credentials',
  'credential',
  // What emails and events say.
  'html',
  'text',
  'subject',
  'previewtext',
  'variables',
  'contactproperties',
  'properties',
  'body',
  'payload',
  // Whom they are of.
  'to',
  'from',
  'fromname',
  'replyto',
  'cc',
  'bcc',
  'email',
  'emails',
  'address',
  'recipient',
  'sender',
  // What statements and connections carry of all that.
  'params',
  'parameters',
  'databaseurl',
  'redisurl',
  'smtpurl',
]);

/**
 * Copies what is to be logged without the values of secret fields; of an error only what is known to be harmless.
 *
 * @param context stands in every line, and is harmless
 */
export function redactFields(fields: Record<string, unknown>, context?: object): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  // Not by spreading: adding fields to an object made so costs 2 µs a line (V8 of Node 24).
  Object.assign(copy, context);
  return redactObject(fields, 0, copy);
}

function redactObject(
  fields: object,
  depth: number,
  copy: Record<string, unknown> = {},
): Record<string, unknown> {
  for (const [name, value] of Object.entries(fields)) {
    copy[name] = isSecret(name) ? REDACTED : redactValue(value, depth + 1);
  }
  return copy;
}

/** What was found of names before: nearly all lines have the same ones. Names from outside must not make it grow. */
const known = new Map<string, boolean>();
const MAX_KNOWN = 500;

function isSecret(name: string): boolean {
  const before = known.get(name);
  if (before !== undefined) return before;
  const found = SECRET_FIELDS.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
  if (known.size < MAX_KNOWN) known.set(name, found);
  return found;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth > MAX_DEPTH) return '[too deep]';
  if (value instanceof Error) return describeError(value, depth);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  return redactObject(value, depth);
}

/**
 * An error's type, code, message, stack and cause. Everything else that libraries hang on their errors (queries and their
 * parameters, requests, replies) is left out.
 */
function describeError(error: Error, depth: number): Record<string, unknown> {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return {
    type: error.constructor.name,
    message: error.message,
    stack: error.stack,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(cause !== undefined && { cause: redactValue(cause, depth + 1) }),
    ...(error instanceof AggregateError && { errors: redactValue(error.errors.slice(0, 5), depth + 1) }),
  };
}
