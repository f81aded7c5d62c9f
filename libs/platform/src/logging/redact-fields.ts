const REDACTED = '[redacted]';
const MAX_DEPTH = 6;

/** Names (lower case, without `-` and `_`) whose values are never logged, at whatever depth they stand. */
const SECRET_FIELDS = new Set([
  // Credentials.
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
  // Contents of emails and events.
  'html',
  'text',
  'subject',
  'previewtext',
  'variables',
  'contactproperties',
  'properties',
  'body',
  'payload',
  // Addresses and names.
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
  // Statements and connections that contain them.
  'params',
  'parameters',
  'databaseurl',
  'redisurl',
  'smtpurl',
]);

/**
 * Copies fields to be logged, with secret values redacted, and only the harmless properties of errors.
 *
 * @param context harmless fields that are added to every line
 */
export function redactFields(fields: Record<string, unknown>, context?: object): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  // Not by spreading: adding fields to such an object costs 2 µs per line (V8 of Node 24).
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

/** Whether each name is secret: nearly all lines have the same names. Bounded, because names can come from outside. */
const secretFields = new Map<string, boolean>();
const MAX_CACHED = 500;

function isSecret(name: string): boolean {
  const before = secretFields.get(name);
  if (before !== undefined) return before;
  const found = SECRET_FIELDS.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
  if (secretFields.size < MAX_CACHED) secretFields.set(name, found);
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
