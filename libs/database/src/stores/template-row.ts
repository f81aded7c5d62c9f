import { idFromUuid, type TemplateId, type TemplateVersionId } from '@posthorn/kernel';
import { type JsonObject, type Mailbox, parseJson } from '@posthorn/domain';
import type { TemplateParts, TemplateVersionSource } from '@posthorn/rendering';
import { mailboxOf } from './composable-email.ts';

/** What a version of a template says; two that are equal say the same. */
export interface TemplateContent {
  readonly from: Mailbox;
  readonly replyTo: readonly Mailbox[];
  readonly parts: TemplateParts;
  /** Whether its emails carry a way to unsubscribe, unless they say otherwise. */
  readonly unsubscribe: boolean;
  /** What a variable is when a call does not give it. */
  readonly defaults: JsonObject;
  /** The paths that a call must give: they are printed and have no default. */
  readonly required: readonly string[];
}

/** What a list shows of a version. */
export interface TemplateVersionSummary {
  readonly id: TemplateVersionId;
  /** The first is 1. */
  readonly version: number;
  readonly from: Mailbox;
  readonly subject: string;
  readonly required: readonly string[];
  /** Whether its emails carry a way to unsubscribe, unless they say otherwise. */
  readonly unsubscribe: boolean;
  readonly createdAt: Date;
}

/** What a list shows of a template; of its version, the current one. */
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

export interface SourceRow {
  versionId: string;
  subject: string;
  html: string;
  text: string | null;
  previewText: string | null;
  /** JSON text. */
  defaults: string;
}

export interface TemplateRow extends TemplateSummaryRow, SourceRow {
  replyTo: Mailbox[] | null;
}

/** The template in a row, with its current version. */
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
    defaults: defaultsOf(row),
  };
}

/** The template in a row, without its content. */
export function templateSummaryOf(row: TemplateSummaryRow): TemplateSummary {
  const { name, createdAt, updatedAt } = row;
  return { ...summaryOf(row), id: idFromUuid('tpl', row.id), name, createdAt, updatedAt };
}

/** The version in a row, without its content. */
export function versionSummaryOf(row: VersionRow): TemplateVersionSummary {
  return { ...summaryOf(row), id: idFromUuid('tpv', row.versionId), createdAt: row.versionCreatedAt };
}

function summaryOf(row: VersionSummaryRow): Omit<TemplateVersionSummary, 'id' | 'createdAt'> {
  const { version, subject, required, unsubscribe } = row;
  return { version, subject, required, unsubscribe, from: mailboxOf(row.fromAddress, row.fromName) };
}

/** A version as rendering takes it. */
export function sourceOf(row: SourceRow): TemplateVersionSource {
  return { id: idFromUuid('tpv', row.versionId), parts: partsOf(row), defaults: defaultsOf(row) };
}

function partsOf({ subject, html, text, previewText }: SourceRow): TemplateParts {
  return {
    subject,
    html,
    ...(text === null ? {} : { text }),
    ...(previewText === null ? {} : { previewText }),
  };
}

function defaultsOf({ defaults }: SourceRow): JsonObject {
  return parseJson(defaults) as JsonObject;
}
