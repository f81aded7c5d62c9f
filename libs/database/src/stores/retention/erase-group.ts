import { uuidOf } from '@posthorn/kernel';
import { type Actor, emailOfEvent, isEventAbout } from '@posthorn/domain';
import type pg from 'pg';
import { EVENTS, ownRows } from '../../schema/workspace-rows.ts';
import { EMAILS_AMONG, EMAILS_TO_AMONG, EVENTS_NAMING_AMONG, FORGET_PERSON } from '../../sql/erasure.ts';
import { addressHash } from '../address-hash.ts';
import type { ErasedRowGroup, ErasureProgress } from './erasure-progress.ts';
import {
  namesOf,
  nextOf,
  type PersonToErase,
  redactAnswersOf,
  redactRows,
  type RowGroup,
  searchedTable,
} from './redaction.ts';
import { idsOf, removeEmails, removeEvents } from './removed-rows.ts';
import type { TableCounts } from './table-counts.ts';

/** The person of an erasure. */
export interface PersonOfErasure extends PersonToErase {
  /** Emails, contacts and events of the person that are newer stay: they were added after the erasure was asked for. */
  readonly erasesUntil: Date;
}

/** An erasure whose row is locked. */
export type LockedErasure = ErasureProgress & {
  readonly isSuppressing: boolean;
  /** Who erases the person in all workspaces; null: it was asked for in this one. */
  readonly operator: Actor | null;
};

const EMAILS = ownRows('emails');

/** What FORGET_PERSON returns. */
export interface ForgottenRow {
  readonly deleted: TableCounts;
  readonly isRemembered: boolean;
}

interface EmailTo {
  readonly id: string;
  readonly status: string;
}

interface EventNaming {
  readonly id: string;
  readonly payload: string;
  /** Whether it happened after the erasure was asked for. */
  readonly isLater: boolean;
}

/** Erases the person in the next rows of the workspace: deletes what is only about them, or replaces the address. */
export function eraseNextGroup(
  client: pg.ClientBase,
  person: PersonOfErasure,
  { state, step, position, isSuppressing }: LockedErasure,
  max: number,
): Promise<ErasedRowGroup> {
  if (state !== 'REMOVING') return redactNext(client, person, { step, position }, max);
  if (step === 'contacts') return forgetAgain(client, person, isSuppressing);
  return step === 'emails'
    ? removeNextEmails(client, person, position, max)
    : removeNextEvents(client, person, position, max);
}

/** The next emails of the workspace, and which of them are to the person; undefined: there are no more. */
export async function nextEmailsTo(
  queries: Pick<pg.ClientBase, 'query'>,
  { address, workspaceId, erasesUntil }: PersonOfErasure,
  position: readonly string[],
  max: number,
): Promise<(RowGroup & { readonly emails: readonly EmailTo[] }) | undefined> {
  const group = await nextOf(queries, EMAILS, workspaceId, position, max);
  if (group === undefined) return undefined;
  const { rows } = await queries.query<EmailTo>(EMAILS_TO_AMONG, [group.ids, address, erasesUntil]);
  return { ...group, emails: rows };
}

async function removeNextEmails(
  client: pg.ClientBase,
  person: PersonOfErasure,
  position: readonly string[],
  max: number,
): Promise<ErasedRowGroup> {
  const group = await nextEmailsTo(client, person, position, max);
  if (group === undefined) return { end: undefined };
  // Those that are still scheduled could not be cancelled: without that, they would count towards the monthly limit for ever.
  const ids = group.emails.filter(({ status }) => status !== 'SCHEDULED').map(({ id }) => id);
  const removed = await removeEmails(client, ids);
  const inProgress = removed.inProgress + group.emails.length - ids.length;
  return { ...removed, inProgress, end: group.end, searched: group.searched };
}

async function removeNextEvents(
  client: pg.ClientBase,
  { address, workspaceId, erasesUntil }: PersonOfErasure,
  position: readonly string[],
  max: number,
): Promise<ErasedRowGroup> {
  const group = await nextOf(client, EVENTS, workspaceId, position, max);
  if (group === undefined) return { end: undefined };
  const values = [group.ids, ...namesOf(address), erasesUntil];
  const { rows } = await client.query<EventNaming>(EVENTS_NAMING_AMONG, values);
  const about = rows.filter(({ payload }) => isEventAbout(payload, address));
  const ids = (await withoutNews(client, about)).map(({ id }) => id);
  return { ...(await removeEvents(client, ids)), end: group.end, searched: group.searched };
}

/** Those of these events that do not stay: of those that are newer than the erasure, those of emails that were removed. */
async function withoutNews(
  client: pg.ClientBase,
  events: readonly EventNaming[],
): Promise<readonly EventNaming[]> {
  const emails = events.flatMap(({ isLater, payload }) => (isLater ? (emailOfEvent(payload) ?? []) : []));
  const there = new Set(emails.length === 0 ? [] : await idsOf(client, EMAILS_AMONG, [emails]));
  return events.filter(({ isLater, payload }) => {
    const email = emailOfEvent(payload);
    return !isLater || (email !== undefined && !there.has(email));
  });
}

async function forgetAgain(
  client: pg.ClientBase,
  { address, workspaceId, erasesUntil }: PersonOfErasure,
  isSuppressing: boolean,
): Promise<ErasedRowGroup> {
  const values = [address, uuidOf(workspaceId), isSuppressing, erasesUntil, addressHash(address)];
  const { deleted, isRemembered } = (await client.query<ForgottenRow>(FORGET_PERSON, values)).rows[0]!;
  return { end: undefined, deleted, isRemembered };
}

/** Replaces the address in the next rows of a table. */
async function redactNext(
  client: pg.ClientBase,
  person: PersonOfErasure,
  { step, position }: Pick<LockedErasure, 'step' | 'position'>,
  max: number,
): Promise<ErasedRowGroup> {
  const { address, workspaceId } = person;
  const searched = await searchedTable(client, step);
  if (searched === undefined) return { end: undefined };
  const group = await nextOf(client, searched.rule.ofWorkspace!, workspaceId, position, max);
  if (group === undefined) return { end: undefined };
  const answers =
    step === 'idempotency_keys'
      ? await redactAnswersOf(client, person, group.ids)
      : { deleted: 0, redacted: 0 };
  const { redacted, left } = await redactRows(client, searched, address, group);
  return {
    end: group.end,
    searched: group.searched,
    deleted: { [step]: answers.deleted },
    redacted: { [step]: answers.redacted + redacted },
    remaining: { [step]: left },
  };
}
