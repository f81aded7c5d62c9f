import { SYSTEM_WORKSPACE_ID, uuidOf } from '@posthorn/kernel';
import { all } from '../sql/statement.ts';

/** A column by which rows are ordered. */
interface KeyColumn {
  readonly name: string;
  readonly type: string;
}

/**
 * How the rows of one workspace in a table are found, by an index, in groups and without reading those of other workspaces: by other rows `d`, which may be
 * the same ones, in the order of a key.
 */
export interface WorkspaceRows {
  /** The table of `d`, with what is joined to it. */
  readonly from: string;
  /** Which rows `d` are of the workspace. $1 uuid: this. */
  readonly where: string;
  /** The column of the workspace, if the index begins with it: they are sorted by it, too, so that only this index has their order (decision 69). */
  readonly leading?: string;
  readonly key: readonly KeyColumn[];
  /** An array: what the rows of a `d` are found by. */
  readonly ids: string;
  /** Whether a row `t` is among those found. $3: what they are found by. */
  readonly match: string;
  /** Whether `match` needs the workspace beside that: $4 uuid. */
  readonly isByWorkspace?: true;
  /** How many bytes the rows found by a `d` have, if they can be large; null: there are none. */
  readonly bytes?: string;
}

/** As a range: by `=`, the column would be a constant, and its place in the order would count for nothing. */
const OF_WORKSPACE = {
  where: 'd.workspace_id BETWEEN $1::uuid AND $1::uuid',
  leading: 'd.workspace_id',
} as const;
const ID: readonly KeyColumn[] = [{ name: 'd.id', type: 'uuid' }];
const BY_ID = 't.id = ANY ($3::uuid[])';

/** Rows of a table with a workspace and an id. Indexes: those by workspace, of tables that can have many rows of one. */
export function ownRows(table: string): WorkspaceRows {
  return { from: `${table} d`, ...OF_WORKSPACE, key: ID, ids: 'ARRAY[d.id]', match: BY_ID };
}

/**
 * Rows of a table of the whole installation, as if they were those of the system's workspace. `column` and `type`: the first column of its primary key;
 * `others`: the rest of it. Index: the primary key.
 */
export function rowsOfInstallation(
  table: string,
  column: string,
  type: string,
  ...others: readonly KeyColumn[]
): WorkspaceRows {
  return {
    from: `${table} d`,
    where: `$1::uuid = '${uuidOf(SYSTEM_WORKSPACE_ID)}'`,
    key: [{ name: `d.${column}`, type }, ...others],
    ids: `ARRAY[d.${column}]`,
    match: `t.${column} = ANY ($3::${type}[])`,
  };
}

/** Rows that belong to an email. Index: emails_by_workspace_idx. */
export const ROWS_OF_EMAILS: WorkspaceRows = {
  ...ownRows('emails'),
  match: 't.email_id = ANY ($3::uuid[])',
};

/**
 * Contents of emails, each of which can have ten megabytes, and most of which are gone after a month. Their sizes are known without reading them; those of JSON as
 * it is stored, compressed, because its length would be that of a text made of it.
 * Indexes: emails_by_workspace_idx, email_contents_pkey.
 */
export const CONTENTS: WorkspaceRows = {
  ...ROWS_OF_EMAILS,
  bytes: `(
    SELECT coalesce(octet_length(k.html), 0) + coalesce(octet_length(k.text), 0)
         + coalesce(pg_column_size(k.variables), 0) + coalesce(pg_column_size(k.attachments), 0)
    FROM   email_contents k
    WHERE  k.email_id = d.id)`,
};

/** Events. Index: events_feed_idx. */
export const EVENTS: WorkspaceRows = {
  ...ownRows('events'),
  key: [
    { name: 'd.era', type: 'int' },
    { name: 'd.xid', type: 'xid8' },
    { name: 'd.id', type: 'uuid' },
  ],
};

/** Deliveries of events. Index: events_feed_idx. */
export const DELIVERIES: WorkspaceRows = {
  ...EVENTS,
  ids: 'ARRAY(SELECT delivery_id(d.id, w.id) FROM unnest(d.webhook_ids) AS w (id))',
};

/** Attempts of deliveries. Index: events_feed_idx. */
export const ATTEMPTS: WorkspaceRows = { ...DELIVERIES, match: 't.delivery_id = ANY ($3::uuid[])' };

/** Index: idempotency_keys_pkey. */
export const IDEMPOTENCY_KEYS: WorkspaceRows = {
  from: 'idempotency_keys d',
  ...OF_WORKSPACE,
  key: [{ name: 'd.key', type: 'text' }],
  ids: 'ARRAY[d.key]',
  match: 't.key = ANY ($3::text[]) AND t.workspace_id = $4::uuid',
  isByWorkspace: true,
};

/** Versions of templates. Index: template_versions_template_number_key, of which it reads all entries after the position. */
export const TEMPLATE_VERSIONS: WorkspaceRows = {
  from: 'template_versions d JOIN templates p ON p.id = d.template_id',
  where: 'p.workspace_id = $1::uuid',
  key: [
    { name: 'd.template_id', type: 'uuid' },
    { name: 'd.number', type: 'int' },
  ],
  ids: 'ARRAY[d.id]',
  match: BY_ID,
};

/** Checks of the domains of identities. Index: identities_workspace_value_key. */
export const DOMAIN_CHECKS: WorkspaceRows = {
  from: 'domain_checks d JOIN identities i ON i.id = d.identity_id',
  where: 'i.workspace_id = $1::uuid',
  key: [{ name: 'd.identity_id', type: 'uuid' }],
  ids: 'ARRAY[d.identity_id]',
  match: 't.identity_id = ANY ($3::uuid[])',
};

/** The workspace itself. Index: workspaces_pkey. */
export const WORKSPACE: WorkspaceRows = {
  from: 'workspaces d',
  where: 'd.id = $1::uuid',
  key: ID,
  ids: 'ARRAY[d.id]',
  match: BY_ID,
};

/** How many bytes a group may have before its last row: a fifth of a second's work, on a busy machine. */
const MAX_GROUP_BYTES = 4 * 1024 * 1024;

/**
 * The next rows of a workspace: the key of each, as text, and what those of another table are found by. $1 uuid: the workspace. $2 int: how many; then the key
 * after which it starts, unless it is the first. Of large rows, only as many as have {@link MAX_GROUP_BYTES}, and one more. Index: that of these rows, from the
 * position. Locks: none.
 */
export function nextOfWorkspace(
  { from, where, leading, key, ids, bytes }: WorkspaceRows,
  isFirst: boolean,
): string {
  const position = key.map(({ name, type }, place) => ({ name, value: `$${3 + place}::text::${type}` }));
  const compared = [...(leading === undefined ? [] : [{ name: leading, value: '$1::uuid' }]), ...position];
  const order = compared.map(({ name }) => name).join(', ');
  const after = [
    `(${order}) > (${compared.map(({ value }) => value).join(', ')})`,
    // For pruning partitions.
    `${position[0]!.name} >= ${position[0]!.value}`,
  ];
  const conditions = [where, ...(isFirst ? [] : after)];
  const some = (columns: string): string => `
SELECT   ARRAY[${key.map(({ name }) => `${name}::text`).join(', ')}] AS key, ${ids}::text[] AS ids${columns}
FROM     ${from}
WHERE    ${all(conditions)}
ORDER BY ${order}
LIMIT    $2::int`;
  if (bytes === undefined) return some('');
  return `
SELECT   key, ids
FROM     (SELECT f.*, sum(bytes) OVER (ORDER BY place) - bytes AS "bytesBefore"
          FROM   (${some(`, row_number() OVER (ORDER BY ${order}) AS place, coalesce(${bytes}, 0) AS bytes`)}) f) g
WHERE    "bytesBefore" < ${MAX_GROUP_BYTES}
ORDER BY place`;
}
