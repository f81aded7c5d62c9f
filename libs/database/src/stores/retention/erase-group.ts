import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { isEventAbout } from '@posthorn/domain';
import type pg from 'pg';
import { EVENTS, ownRows } from '../../schema/workspace-rows.ts';
import { EMAILS_TO_AMONG, EVENTS_NAMING_AMONG, FORGET_PERSON } from '../../sql/erasure.ts';
import { addressHash } from '../mail-refusal.ts';
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
import { removeEmails, removeEvents } from './removed-rows.ts';
import type { TableCounts } from './table-counts.ts';

/** The person of an erasure, in its workspace. */
export type PersonOfWorkspace = PersonToErase & { readonly workspaceId: WorkspaceId };

/** An erasure whose row is locked. */
export type LockedErasure = ErasureProgress & { readonly isSuppressing: boolean };

const EMAILS = ownRows('emails');

/** What FORGET_PERSON returns. */
export interface ForgottenRow {
  readonly deleted: TableCounts;
  readonly remembered: readonly string[];
}

interface EmailTo {
  readonly id: string;
  readonly status: string;
}

interface EventNaming {
  readonly id: string;
  readonly payload: string;
}

/** Erases the person in the next rows of the workspace: deletes what is only about them, or replaces the address. */
export function eraseNextGroup(
  client: pg.ClientBase,
  person: PersonOfWorkspace,
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
  { address, workspaceId }: PersonOfWorkspace,
  position: readonly string[],
  max: number,
): Promise<(RowGroup & { readonly emails: readonly EmailTo[] }) | undefined> {
  const group = await nextOf(queries, EMAILS, workspaceId, position, max);
  if (group === undefined) return undefined;
  const { rows } = await queries.query<EmailTo>(EMAILS_TO_AMONG, [group.ids, address]);
  return { ...group, emails: rows };
}

async function removeNextEmails(
  client: pg.ClientBase,
  person: PersonOfWorkspace,
  position: readonly string[],
  max: number,
): Promise<ErasedRowGroup> {
  const group = await nextEmailsTo(client, person, position, max);
  if (group === undefined) return { end: undefined };
  const ids = group.emails.map(({ id }) => id);
  return { ...(await removeEmails(client, ids)), end: group.end, searched: group.searched };
}

async function removeNextEvents(
  client: pg.ClientBase,
  { address, workspaceId }: PersonOfWorkspace,
  position: readonly string[],
  max: number,
): Promise<ErasedRowGroup> {
  const group = await nextOf(client, EVENTS, workspaceId, position, max);
  if (group === undefined) return { end: undefined };
  const { rows } = await client.query<EventNaming>(EVENTS_NAMING_AMONG, [group.ids, ...namesOf(address)]);
  const ids = rows.filter(({ payload }) => isEventAbout(payload, address)).map(({ id }) => id);
  return { ...(await removeEvents(client, ids)), end: group.end, searched: group.searched };
}

async function forgetAgain(
  client: pg.ClientBase,
  { address, workspaceId }: PersonOfWorkspace,
  isSuppressing: boolean,
): Promise<ErasedRowGroup> {
  const values = [address, uuidOf(workspaceId), isSuppressing, addressHash(address)];
  const { deleted, remembered } = (await client.query<ForgottenRow>(FORGET_PERSON, values)).rows[0]!;
  return { end: undefined, deleted, isRemembered: remembered.length > 0 };
}

/** Replaces the address in the next rows of a table. */
async function redactNext(
  client: pg.ClientBase,
  person: PersonOfWorkspace,
  { step, position }: Pick<LockedErasure, 'step' | 'position'>,
  max: number,
): Promise<ErasedRowGroup> {
  const { address, workspaceId } = person;
  const searched = await searchedTable(client, step, person);
  if (searched === undefined) return { end: undefined };
  const group = await nextOf(client, searched.rule.ofWorkspace!, workspaceId, position, max);
  if (group === undefined) return { end: undefined };
  const answers =
    step === 'idempotency_keys'
      ? await redactAnswersOf(client, address, workspaceId, group.ids)
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
