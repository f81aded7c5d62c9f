// Writes emails into the database without a gateway: as accepting does, and by three bare INSERTs, the baseline.
import { AcceptanceStore, waitForDatabase, openDatabase } from '@posthorn/database';
import { newId, uuidOf } from '@posthorn/kernel';
import { answerParent } from './bench-process.mjs';
import { sampleEmail } from './sample-email.mjs';

/** About the size of a group while batches are accepted. */
const GROUP_SIZE = 400;
/** A busy gateway accepts two groups at a time. */
const CONNECTIONS = 2;

const { from, subject, html, text } = sampleEmail('');
const [, name = '', address = ''] = /** @type {RegExpExecArray} */ (/^(.*) <(.*)>$/.exec(from));

/** Inserts the rows of a group into the same tables, without checking idempotency keys, senders or limits. */
const BARE_INSERTS = {
  name: 'bare_inserts',
  text: `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) AS i (id, to_address, message_id, html, text)
),
new_outbox AS (
  INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, bytes)
  SELECT id, 'email', $7, 'ready', now(), 8000 FROM item
),
new_emails AS (
  INSERT INTO emails (id, workspace_id, type, status, from_address, from_name, to_address, subject, message_id,
                      idempotency_keys, track_clicks, track_opens, accepted_at)
  SELECT id, $6::uuid, 'raw', 'SENT', '${address}', '${name}', to_address, '${subject}', message_id, '{}', false, false, now() FROM item
)
INSERT INTO email_contents (email_id, html, text) SELECT id, html, text FROM item`,
};

/** @type {ReturnType<typeof openDatabase>} */
let database;
/** @type {AcceptanceStore} */
let store;
/** @type {any} */
let workspaceId;

function newGroup() {
  return Array.from({ length: GROUP_SIZE }, () => newId('trs', Date.now()));
}

/** @param {ReturnType<typeof newGroup>[number]} id @param {number} n @returns {import('@posthorn/database').AcceptableRawEmail} */
function emailWith(id, n) {
  return {
    id,
    workspaceId,
    type: 'raw',
    status: 'SENT',
    from: { address, name },
    fromDomain: 'example.com',
    to: { address: `ada-${n}@example.net` },
    replyTo: [],
    messageId: `${id}@example.com`,
    trackClicks: false,
    trackOpens: false,
    unsubscribe: false,
    sendAt: null,
    acceptedAt: new Date(),
    laneId: workspaceId,
    bytes: 8_000,
    bytesToAccept: 8_000,
    subject,
    html,
    text,
  };
}

async function accept() {
  const emails = newGroup().map(emailWith);
  const [outcome] = await store.accept([{ workspaceId, emails }], null);
  if (outcome?.kind !== 'decided' || outcome.emails.some(({ kind }) => kind !== 'accepted'))
    throw new Error(`a group was not accepted: ${JSON.stringify(outcome)}`);
}

async function insert() {
  const ids = newGroup();
  const of = (make) => ids.map(make);
  const values = [
    of(uuidOf),
    of((_id, n) => `ada-${n}@example.net`),
    of((id) => `${id}@example.com`),
    of(() => html),
    of(() => text),
    uuidOf(workspaceId),
    workspaceId,
  ];
  await database.pool.query({ ...BARE_INSERTS, values });
}

/** Milliseconds for this many emails. @param {number} emails @param {() => Promise<void>} writeGroup */
async function time(emails, writeGroup) {
  let left = emails / GROUP_SIZE;
  const start = performance.now();
  const worker = async () => {
    while ((left -= 1) >= 0) await writeGroup();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return performance.now() - start;
}

answerParent({
  open: async (/** @type {{ databaseUrl: string, workspaceId: string }} */ given) => {
    database = openDatabase({
      url: given.databaseUrl,
      poolSize: CONNECTIONS,
      applicationName: 'posthorn-bench',
    });
    await waitForDatabase(database);
    store = new AcceptanceStore(database);
    ({ workspaceId } = given);
    return GROUP_SIZE;
  },
  ours: ({ count }) => time(count, accept),
  bare: ({ count }) => time(count, insert),
});
