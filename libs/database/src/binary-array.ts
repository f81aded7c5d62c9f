import { type Id, writeUuid } from '@posthorn/kernel';

/** A type of Postgres: its type here, and how one value of it is sent. */
interface ElementType<Value> {
  /** Its number in `pg_type`, which is the same on every server. */
  readonly oid: number;
  readonly bytesOf: (value: Value) => number;
  /** Says where it ends. */
  readonly write: (target: Buffer, value: Value, at: number) => number;
}

/** The epoch of Postgres, 2000-01-01, in milliseconds since 1970. */
const POSTGRES_EPOCH_MS = 946_684_800_000;

const ELEMENT_TYPES = {
  boolean: elementType<boolean>(16, 1, (target, value, at) => target.writeUInt8(value ? 1 : 0, at)),
  bytea: elementType<Buffer>(
    17,
    (value) => value.length,
    (target, value, at) => at + value.copy(target, at),
  ),
  int: elementType<number>(23, 4, (target, value, at) => target.writeInt32BE(value, at)),
  text: elementType<string>(
    25,
    (value) => Buffer.byteLength(value),
    (target, value, at) => at + target.write(value, at),
  ),
  // In microseconds.
  timestamptz: elementType<Date>(1184, 8, (target, value, at) =>
    target.writeBigInt64BE(BigInt(value.getTime() - POSTGRES_EPOCH_MS) * 1_000n, at),
  ),
  uuid: elementType<Id<string>>(2950, 16, (target, value, at) => at + writeUuid(value, target, at)),
};

/** The types that a column may have. Enums, json and arrays go as texts, and are cast where they are used. */
export type ColumnType = keyof typeof ELEMENT_TYPES;

type ValueOf<Type extends ColumnType> =
  (typeof ELEMENT_TYPES)[Type] extends ElementType<infer Value> ? Value : never;

/** A row with these columns; what is absent is NULL. */
export type Row<Columns extends Readonly<Record<string, ColumnType>>> = {
  readonly [Name in keyof Columns]: ValueOf<Columns[Name]> | null | undefined;
};

/**
 * Rows as `unnest` takes them: an array for each column, in their order, in the binary format of the wire. Neither side has to escape or parse
 * text, as JSON makes both do: for an email that is a third of what writing it costs the server.
 */
export function columnsOf<Columns extends Readonly<Record<string, ColumnType>>>(
  columns: Columns,
  rows: readonly Row<Columns>[],
): Buffer[] {
  return Object.entries(columns).map(([name, type]) =>
    binaryArray(ELEMENT_TYPES[type] as ElementType<unknown>, rows, name),
  );
}

/**
 * Rows that a statement takes so, as FROM names them; their parameters are those from `$<first>` on. Each is in a SELECT of its own, so that every
 * group looks the same to the planner and one plan serves them all: otherwise it would plan again for every small group, which takes longer than to
 * run it.
 */
export function rowsOf(columns: Readonly<Record<string, ColumnType>>, alias: string, first = 1): string {
  const arrays = Object.values(columns).map((type, index) => `(SELECT $${index + first}::${type}[])`);
  return `unnest(${arrays.join(', ')}) AS ${alias} (${Object.keys(columns).join(', ')})`;
}

/** As `array_recv` reads it: dimensions, whether there are NULLs, the type, the length, the first index, then the values. */
function binaryArray(
  { oid, bytesOf, write }: ElementType<unknown>,
  rows: readonly Readonly<Record<string, unknown>>[],
  name: string,
): Buffer {
  let [size, hasNulls] = [HEADER_BYTES + rows.length * LENGTH_BYTES, 0];
  for (const row of rows) {
    const value = row[name];
    if (value === null || value === undefined) hasNulls = 1;
    else size += bytesOf(value);
  }
  const target = Buffer.allocUnsafe(size);
  let at = 0;
  for (const word of [1, hasNulls, oid, rows.length, 1]) at = target.writeInt32BE(word, at);
  for (const row of rows) {
    const value = row[name];
    const start = at + LENGTH_BYTES;
    const end = value === null || value === undefined ? undefined : write(target, value, start);
    target.writeInt32BE(end === undefined ? NULL : end - start, at);
    at = end ?? start;
  }
  return target;
}

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
/** Stands in place of the length. */
const NULL = -1;

function elementType<Value>(
  oid: number,
  bytes: number | ((value: Value) => number),
  write: ElementType<Value>['write'],
): ElementType<Value> {
  return { oid, bytesOf: typeof bytes === 'number' ? () => bytes : bytes, write };
}
