import type { Sort } from '@posthorn/domain';
import { inOrder } from './statement.ts';

/** The columns of `template_versions v` in lists; without content, which may be 10 MiB each. */
const SUMMARY_COLUMNS = `v.number AS version, v.from_address AS "fromAddress", v.from_name AS "fromName", v.subject, v.required, v.unsubscribe`;

/** The content of `template_versions v` beside its subject. Defaults are read as text, because the driver's JSON parser may misread keys chosen by a caller. */
const CONTENT_COLUMNS = `v.id AS "versionId", v.html, v.text, v.preview_text AS "previewText", v.defaults::text AS defaults`;

const TEMPLATE_COLUMNS = 't.id, t.name, t.created_at AS "createdAt", t.updated_at AS "updatedAt"';

/**
 * What accepting an email needs of its template. $1 uuid[], $2 text[]: pairs of workspace and template name. `bytes` does not read the content: the length of
 * a TOASTed value is in its pointer.
 *
 * Indexes: templates_living_name_key, template_versions_pkey.
 */
export const FIND_CURRENT_TEMPLATES = `
SELECT i.n::int AS n, v.id AS "versionId", v.from_address AS "fromAddress", v.from_name AS "fromName",
       v.reply_to AS "replyTo", v.required, v.unsubscribe,
       octet_length(v.html) + coalesce(octet_length(v.text), 0) AS bytes
FROM   unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS i (workspace_id, name, n)
JOIN   templates t ON t.workspace_id = i.workspace_id AND t.name = i.name AND t.deleted_at IS NULL
JOIN   template_versions v ON v.id = t.current_version_id`;

/** The content of versions, including those of deleted templates. $1 uuid[]. Index: template_versions_pkey. */
export const FIND_TEMPLATE_VERSIONS = `
SELECT ${CONTENT_COLUMNS}, v.template_id AS "templateId", v.subject
FROM   template_versions v
WHERE  v.id = ANY($1::uuid[])`;

/** A template that is not deleted, with its current version. $1 uuid: the template. $2 uuid: its workspace. Index: templates_pkey. */
export const READ_TEMPLATE = readTemplate('v.id = t.current_version_id');

/** As READ_TEMPLATE, with the version of number $3. Index: template_versions_template_number_key. */
export const READ_TEMPLATE_VERSION = readTemplate('v.template_id = t.id AND v.number = $3::int');

function readTemplate(isVersion: string): string {
  return `
SELECT ${TEMPLATE_COLUMNS}, ${SUMMARY_COLUMNS}, ${CONTENT_COLUMNS}, v.reply_to AS "replyTo"
FROM   templates t
JOIN   template_versions v ON ${isVersion}
WHERE  t.id = $1::uuid AND t.workspace_id = $2::uuid AND t.deleted_at IS NULL`;
}

/**
 * A page of a workspace's templates that are not deleted, without content. $1 uuid: the workspace. $2 uuid: the first, or null. $3 int: how many. $4 text: a
 * name to filter by, or null. Indexes: templates_living_by_workspace_idx, in its order, or templates_living_name_key.
 */
export function listTemplates(sort: Sort): string {
  const { order, from } = inOrder(sort);
  return `
SELECT   ${TEMPLATE_COLUMNS}, ${SUMMARY_COLUMNS}
FROM     templates t
JOIN     template_versions v ON v.id = t.current_version_id
WHERE    t.workspace_id = $1::uuid AND t.deleted_at IS NULL AND ($2::uuid IS NULL OR t.id ${from} $2::uuid)
AND      ($4::text IS NULL OR t.name = $4::text)
ORDER BY t.id ${order}
LIMIT    $3::int`;
}

/**
 * A page of a template's versions, without content, in the order of their numbers. $1 uuid: the template. $2 uuid: the first version, or null; a version of
 * another template gives an empty page. $3 int: how many.
 * Indexes: template_versions_template_number_key, template_versions_pkey.
 */
export function listTemplateVersions(sort: Sort): string {
  const { order, from } = inOrder(sort);
  return `
SELECT   v.id AS "versionId", v.created_at AS "versionCreatedAt", ${SUMMARY_COLUMNS}
FROM     template_versions v
WHERE    v.template_id = $1::uuid
AND      ($2::uuid IS NULL OR v.number ${from} (
           SELECT f.number FROM template_versions f WHERE f.id = $2::uuid AND f.template_id = $1::uuid))
ORDER BY v.number ${order}
LIMIT    $3::int`;
}

/** $1 uuid: the template. $4 timestamptz: now. The rest: the version. */
const INSERT_VERSION = `
INSERT INTO template_versions (template_id, created_at, id, number, from_address, from_name, reply_to, subject, html, text,
                               preview_text, defaults, required, unsubscribe)
VALUES ($1::uuid, $4::timestamptz, $5::uuid, $6::int, $7::text, $8::text, $9::jsonb, $10::text, $11::text, $12::text,
        $13::text, $14::json, $15::text[], $16::boolean)`;

/**
 * Creates a template with its first version, in one statement because they reference each other. $1 uuid: the template. $2 uuid: the workspace. $3 text: the
 * name. $4 timestamptz: now. $5 uuid, $6 int …: the columns of the version, as in INSERT_VERSION. Locks: the new rows.
 */
export const INSERT_TEMPLATE = `
WITH template AS (
  INSERT INTO templates (id, workspace_id, name, current_version_id, created_at, updated_at)
  VALUES ($1::uuid, $2::uuid, $3::text, $5::uuid, $4::timestamptz, $4::timestamptz)
)${INSERT_VERSION}`;

/** Renames a template, adds a version to it and makes that the current one. Parameters as INSERT_TEMPLATE. Index: templates_pkey. Locks: the template. */
export const INSERT_TEMPLATE_VERSION = `
WITH template AS (
  UPDATE templates SET name = $3::text, current_version_id = $5::uuid, updated_at = $4::timestamptz
  WHERE  id = $1::uuid AND workspace_id = $2::uuid
)${INSERT_VERSION}`;
