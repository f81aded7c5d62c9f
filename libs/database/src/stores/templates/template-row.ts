import { idFromUuid, type TemplateId, type TemplateVersionId } from '@posthorn/kernel';
import { type JsonObject, type Mailbox, parseJson } from '@posthorn/domain';
import type { TemplateParts, TemplateVersionSource } from '@posthorn/rendering';
import { mailboxOf } from '../emails/composable-email.ts';

/** The content of a template version; equal contents render the same. */
export interface TemplateContent {
  readonly from: Mailbox;
  readonly replyTo: readonly Mailbox[];
  readonly parts: TemplateParts;
  /** Whether its emails have an unsubscribe link by default. */
  readonly unsubscribe: boolean;
  /** The values of variables that a call does not set. */
  readonly defaults: JsonObject;
  /** The paths that a call must set: those that are printed and have no default. */
  readonly required: readonly string[];
}

/** A version as shown in lists. */
export interface TemplateVersionSummary extends Pick<TemplateContent, 'from' | 'required' | 'unsubscribe'> {
  readonly id: TemplateVersionId;
  /** The first is 1. */
  readonly version: number;
  readonly subject: string;
  readonly createdAt: Date;
}

/** A template as shown in lists, with the fields of its current version. */
export interface TemplateSummary extends Omit<TemplateVersionSummary, 'id'> {
  readonly id: TemplateId;
  readonly name: string;
  readonly updatedAt: Date;
}

/** A template with one of its versions. */
export interface Template extends TemplateContent {
  readonly id: TemplateId;
  readonly name: string;
  readonly versionId: TemplateVersionId;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A version for rendering, as it is stored. */
export interface StoredVersionSource extends Omit<TemplateVersionSource, 'defaults'> {
  /** JSON with keys chosen by the caller, so parse it with `parseJson`. */
  readonly defaults: string;
  readonly templateId: TemplateId;
}

interface VersionSummaryRow {
  version: number;
  fromAddress: string;
  fromName: string | null;
  subject: string;
  required: string[];
  unsubscribe: boolean;
}

export interface TemplateSummaryRow extends VersionSummaryRow {
  id: string;
  name: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface VersionRow extends VersionSummaryRow {
  versionId: string;
  versionCreatedAt: Date;
}

interface ContentRow {
  versionId: string;
  subject: string;
  html: string;
  text: string | null;
  previewText: string | null;
  /** JSON text. */
  defaults: string;
}

export interface SourceRow extends ContentRow {
  templateId: string;
}

export interface TemplateRow extends TemplateSummaryRow, ContentRow {
  replyTo: Mailbox[] | null;
}

/** Converts a row to a template with its current version. */
export function templateOf(row: TemplateRow): Template {
  const { name, version, required, createdAt, updatedAt } = row;
  return {
    id: idFromUuid('tpl', row.id),
    versionId: idFromUuid('tpv', row.versionId),
    name,
    version,
    required,
    createdAt,
    updatedAt,
    from: mailboxOf(row.fromAddress, row.fromName),
    replyTo: row.replyTo ?? [],
    parts: partsOf(row),
    unsubscribe: row.unsubscribe,
    defaults: parseJson(row.defaults) as JsonObject,
  };
}

/** Converts a row to a template without its content. */
export function templateSummaryOf(row: TemplateSummaryRow): TemplateSummary {
  const { name, createdAt, updatedAt } = row;
  return { ...summaryOf(row), id: idFromUuid('tpl', row.id), name, createdAt, updatedAt };
}

/** Converts a row to a version without its content. */
export function versionSummaryOf(row: VersionRow): TemplateVersionSummary {
  return { ...summaryOf(row), id: idFromUuid('tpv', row.versionId), createdAt: row.versionCreatedAt };
}

function summaryOf(row: VersionSummaryRow): Omit<TemplateVersionSummary, 'id' | 'createdAt'> {
  const { version, subject, required, unsubscribe } = row;
  return { version, subject, required, unsubscribe, from: mailboxOf(row.fromAddress, row.fromName) };
}

/** Converts a row to a version for rendering. */
export function storedSourceOf(row: SourceRow): StoredVersionSource {
  return {
    id: idFromUuid('tpv', row.versionId),
    templateId: idFromUuid('tpl', row.templateId),
    parts: partsOf(row),
    defaults: row.defaults,
  };
}

function partsOf({ subject, html, text, previewText }: ContentRow): TemplateParts {
  return {
    subject,
    html,
    ...(text === null ? {} : { text }),
    ...(previewText === null ? {} : { previewText }),
  };
}
