import { readdir, readFile } from 'node:fs/promises';

/** What a schema file declares, or what a database has, in words that can be compared. */
export interface SchemaInWords {
  /** `table.column: type[, null][, key n]` */
  readonly columns: string[];
  /** `name: label, label` in their order. */
  readonly enums: string[];
  /** `index: table (column, column)` */
  readonly uniqueIndexes: string[];
}

const SCHEMA_DIRECTORY = new URL('../../../../prisma/schema/', import.meta.url);

/** What Prisma makes of its types in Postgres; a native type comes first. */
const TYPE_OF_NATIVE: Readonly<Record<string, string>> = {
  'Uuid': 'uuid',
  'SmallInt': 'smallint',
  'Date': 'date',
  'Json': 'json',
  'Timestamptz(6)': 'timestamp with time zone',
};
const TYPE_OF_SCALAR: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  DateTime: 'timestamp(3) without time zone',
  Json: 'jsonb',
  Bytes: 'bytea',
};

interface Block {
  readonly name: string;
  /** The name in the database. */
  readonly mappedName: string;
  readonly lines: string[];
}

interface Field {
  readonly name: string;
  readonly column: string;
  /** Of an enum its name in the database. */
  readonly type: string;
  readonly isOptional: boolean;
  readonly isList: boolean;
  /** A type that Prisma does not know: it is in the database, not in the client. */
  readonly isUnsupported: boolean;
  readonly attributes: string;
}

/** The models of the schema, with the names of their fields that are columns. */
export async function declaredModels(): Promise<Map<string, string[]>> {
  const blocks = await readBlocks();
  const known = (model: Block): string[] =>
    fieldsOf(model, blocks).flatMap(({ name, isUnsupported }) => (isUnsupported ? [] : [name]));
  return new Map(blocks.model.map((model) => [model.name, known(model)]));
}

/** What prisma/schema declares. */
export async function declaredSchema(): Promise<SchemaInWords> {
  const blocks = await readBlocks();
  return {
    columns: blocks.model.flatMap((model) => columnsInWords(model, fieldsOf(model, blocks))).sort(),
    enums: blocks.enum.map(({ mappedName, lines }) => `${mappedName}: ${labels(lines).join(', ')}`).sort(),
    uniqueIndexes: blocks.model.flatMap((model) => uniqueInWords(model, fieldsOf(model, blocks))).sort(),
  };
}

type Blocks = Record<'model' | 'enum', Block[]>;

async function readBlocks(): Promise<Blocks> {
  const blocks: Blocks = { model: [], enum: [] };
  for (const file of (await readdir(SCHEMA_DIRECTORY)).sort()) {
    const text = await readFile(new URL(file, SCHEMA_DIRECTORY), 'utf8');
    const withoutComments = text.replaceAll(/\s*\/\/.*$/gm, '');
    for (const [, kind, name, body] of withoutComments.matchAll(/^(model|enum) (\w+) \{\n(.*?)^\}/gms)) {
      const lines = body!
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
      const mappedName = /@@map\("(\w+)"\)/.exec(body!)?.[1] ?? name!;
      blocks[kind as keyof Blocks].push({ name: name!, mappedName, lines });
    }
  }
  return blocks;
}

const FIELD = /^(\w+)\s+(\w+(?:\("\w+"\))?)(\?|\[\])?\s*(.*)$/;

function fieldsOf(model: Block, blocks: Blocks): Field[] {
  const isModel = (type: string) => blocks.model.some(({ name }) => name === type);
  return model.lines.flatMap((line) => {
    const [, name, type, mark, attributes] = FIELD.exec(line) ?? [];
    if (name === undefined || type === undefined || isModel(type)) return [];
    const column = /(?<!@)@map\("(\w+)"\)/.exec(attributes!)?.[1] ?? name;
    const enumName = blocks.enum.find((one) => one.name === type)?.mappedName;
    const unsupported = /^Unsupported\("(\w+)"\)$/.exec(type)?.[1];
    return [
      {
        name,
        column,
        type: unsupported ?? enumName ?? type,
        attributes: attributes!,
        isOptional: mark === '?',
        isList: mark === '[]',
        isUnsupported: unsupported !== undefined,
      },
    ];
  });
}

function columnsInWords(model: Block, fields: Field[]): string[] {
  const key = keyOf(model, fields);
  return fields.map((field) => {
    const place = key.indexOf(field.name) + 1;
    const suffix = `${field.isOptional ? ', null' : ''}${place > 0 ? `, key ${place}` : ''}`;
    return `${model.mappedName}.${field.column}: ${typeOf(field)}${field.isList ? '[]' : ''}${suffix}`;
  });
}

function typeOf({ type, attributes }: Field): string {
  const native = /@db\.(\w+(?:\(\d+\))?)/.exec(attributes)?.[1];
  if (native !== undefined) return TYPE_OF_NATIVE[native] ?? `unknown native type ${native}`;
  return TYPE_OF_SCALAR[type] ?? type;
}

function keyOf(model: Block, fields: Field[]): string[] {
  const compound = model.lines.map((line) => /^@@id\(\[(.*?)\]/.exec(line)?.[1]).find(Boolean);
  if (compound !== undefined) return compound.split(/,\s*/);
  return fields.filter(({ attributes }) => /(?:^|\s)@id\b/.test(attributes)).map(({ name }) => name);
}

function uniqueInWords(model: Block, fields: Field[]): string[] {
  const columnOf = new Map(fields.map(({ name, column }) => [name, column]));
  const ofFields = fields.flatMap(({ column, attributes }) => {
    const index = /(?<!@)@unique\(map: "(\w+)"\)/.exec(attributes)?.[1];
    return index === undefined ? [] : [`${index}: ${model.mappedName} (${column})`];
  });
  const ofModel = model.lines.flatMap((line) => {
    const [, names, index] = /^@@unique\(\[(.*?)\], map: "(\w+)"\)/.exec(line) ?? [];
    if (names === undefined) return [];
    const columns = names.split(/,\s*/).map((name) => columnOf.get(name));
    return [`${index}: ${model.mappedName} (${columns.join(', ')})`];
  });
  return [...ofFields, ...ofModel];
}

function labels(lines: string[]): string[] {
  return lines.filter((line) => /^\w+$/.test(line));
}
