import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Erasure, operator } from '@posthorn/domain';
import { DeliveryTestStores } from '../webhooks/deliveries.fixture.ts';
import { rawEmail, sent } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { runOutOfTimeBeyond } from '../../run-out-of-time.fixture.ts';
import { ERASURE_RULES } from '../../schema/erasure-rules.ts';
import { AuditLogStore } from '../workspaces/audit-log-store.ts';
import { RequestedErasureStore } from './requested-erasure-store.ts';

const ADA = 'ada@example.net';
const DAY_MS = 86_400_000;

const stores = await openTestStores();
const deliveryStores = new DeliveryTestStores(stores);
const erasures = new RequestedErasureStore(stores.database);
let acme: WorkspaceId;

beforeEach(async () => {
  await stores.ask('DELETE FROM erasures');
  await stores.ask('DELETE FROM outbox');
  acme = await stores.openWorkspace();
});

async function begin(change: object = {}, workspaceId = acme, maxOpen = 100): Promise<Erasure> {
  const id = newId('ers', Date.now());
  const wanted = { id, address: ADA, isSuppressing: false, ...change };
  return (await erasures.begin(workspaceId, operator('test'), wanted, maxOpen))!;
}
const shown = async ({ id }: Erasure, workspaceId = acme): Promise<Erasure> =>
  (await erasures.find(workspaceId, id))!;

async function eraseAll(by = erasures): Promise<void> {
  while ((await by.eraseGroup()) !== undefined);
}

/** Lets erasures that wait go on at once. */
const hasten = () => stores.ask(`UPDATE erasures SET next_at = now()`);

async function untilCompleted(erasure: Erasure): Promise<Erasure> {
  for (let times = 0; times < 20; times += 1) {
    await eraseAll();
    const now = await shown(erasure);
    if (now.state === 'COMPLETED') return now;
    await hasten();
  }
  throw new Error('the erasure does not end');
}

const ofAcme = (table: string): Promise<number> => stores.count(table, 'workspace_id = $1', [uuidOf(acme)]);

function addContact(email: string, properties: object = {}, workspaceId = acme): Promise<unknown> {
  return stores.ask('INSERT INTO contacts (id, workspace_id, email, properties) VALUES ($1, $2, $3, $4)', [
    ...[newUuid(Date.now()), uuidOf(workspaceId), email, JSON.stringify(properties)],
  ]);
}

/** Data about the person alone, about others with a mention, and of others, in a workspace. */
async function leaveTraces(workspaceId: WorkspaceId): Promise<void> {
  await stores.acceptEmails(workspaceId, 3, { to: { address: ADA } });
  await stores.acceptEmails(workspaceId, 2, {
    to: { address: 'Ada@example.net' },
    status: 'SCHEDULED',
    sendAt: new Date(Date.now() + DAY_MS),
  });
  const naming = { to: { address: 'bo@example.net' }, html: `<p>Ask ${ADA}</p>`, subject: `Of ${ADA}` };
  const [finished] = await stores.acceptEmails(workspaceId, 2, naming);
  await stores.ask('DELETE FROM outbox WHERE subject_id = $1', [uuidOf(finished!)]);
  const idempotency = {
    key: 'k',
    fingerprint: Buffer.alloc(32),
    answer: JSON.stringify({ id: 'trs_1', to: ADA }),
    expiresAt: new Date(Date.now() + DAY_MS),
  };
  await stores.accept([rawEmail(workspaceId, { to: { address: ADA }, idempotency })]);
  await stores.accept([
    rawEmail(workspaceId, {
      to: { address: 'bo@example.net' },
      idempotency: { ...idempotency, key: `joined-${ADA}`, answer: '{}' },
    }),
  ]);
  await addContact('ADA@example.net', {}, workspaceId);
  await addContact('bo@example.net', { friend: ADA }, workspaceId);
  await deliveryStores.addWebhook(workspaceId);
  await deliveryStores.record(workspaceId, 4);
  await deliveryStores.fanOut(workspaceId);
}

const ERASED_OF_TRACES = {
  deleted: {
    contacts: 1,
    emails: 6,
    email_contents: 6,
    events: 4,
    webhook_deliveries: 4,
    idempotency_keys: 1,
  },
  redacted: { contacts: 1, emails: 1, email_contents: 1, idempotency_keys: 1 },
  // Of emails to somebody else that have not been sent: one has the address in its idempotency key.
  remaining: { emails: 2, email_contents: 1 },
  inProgress: 0,
  isRemembered: false,
};

describe('An erasure that a workspace has requested', () => {
  it('erases what the workspace has about the person, and nothing of another that sends to the same address', async () => {
    const globex = await stores.openWorkspace();
    for (const workspaceId of [acme, globex]) await leaveTraces(workspaceId);
    const before = await contentsOf(globex);
    const begun = await begin();
    expect(begun).toMatchObject({ state: 'REMOVING', deleted: { contacts: 1 }, searched: 0 });
    const erased = await untilCompleted(begun);
    expect(erased).toMatchObject({ state: 'COMPLETED', ...ERASED_OF_TRACES });
    expect(erased.deleted['email_events'] ?? 0).toBeGreaterThanOrEqual(2);
    // Emails that were due, scheduled ones, and deliveries.
    expect(erased.cancelled).toBe(4 + 2 + 4);
    expect(await contentsOf(globex)).toEqual(before);
    expect(await stores.ask('SELECT accepted FROM usage WHERE workspace_id = $1', [uuidOf(acme)])).toEqual([
      { accepted: 3 + 2 + 2 + 2 - 2 },
    ]);
  });

  it('forgets the address when it is completed', async () => {
    const begun = await begin();
    const [row] = await stores.ask('SELECT address FROM erasures');
    expect(row).toEqual({ address: ADA });
    const erased = await untilCompleted(begun);
    expect(await stores.ask('SELECT address, position FROM erasures')).toEqual([
      { address: null, position: [] },
    ]);
    expect(erased).toMatchObject({ recipient: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(erased.finishedAt).not.toBeNull();
  });

  it('searches every table of a workspace', async () => {
    const erased = new Set<string>();
    await begin();
    for (;;) {
      const [row] = await stores.ask<{ step: string }>('SELECT step FROM erasures');
      erased.add(row!.step);
      if ((await erasures.eraseGroup()) === undefined) break;
    }
    const tables = Object.entries(ERASURE_RULES).filter(([, { ofWorkspace }]) => ofWorkspace !== undefined);
    expect([...erased].sort()).toEqual(tables.map(([table]) => table).sort());
  });

  it('is in the audit log with who began it, when it was completed, and how much it did, without the address', async () => {
    await leaveTraces(acme);
    const { id } = await untilCompleted(await begin());
    const page = { limit: 10, sort: 'createdAt.asc' } as const;
    const { items } = await new AuditLogStore(stores.database).list(acme, page, { subjectId: id });
    expect(items).toMatchObject([
      { action: 'recipient.erased', actor: { kind: 'operator' }, detail: { begun: true } },
      {
        action: 'recipient.erased',
        actor: { kind: 'system' },
        detail: { completed: true, deleted: expect.any(Number), redacted: 4, cancelled: 10 },
      },
    ]);
    expect(JSON.stringify(items)).not.toContain('ada@');
  });

  it('remembers by a hash whom nothing may be sent to, at once', async () => {
    expect(await begin({ isSuppressing: true })).toMatchObject({ isRemembered: true });
    expect(await ofAcme('erased_recipients')).toBe(1);
    expect(
      await stores.ask('SELECT reason FROM erased_recipients WHERE workspace_id = $1', [uuidOf(acme)]),
    ).toEqual([{ reason: 'MANUAL' }]);
  });

  it('counts everything once when a process dies in the middle of any group', async () => {
    await leaveTraces(acme);
    const begun = await begin();
    await stores.ask(`
      CREATE SEQUENCE notes;
      CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('notes') % 2 = 1 THEN RAISE 'died'; END IF; RETURN NEW;
      END $$;
      CREATE TRIGGER die BEFORE UPDATE ON erasures FOR EACH ROW WHEN (NEW.turn > OLD.turn) EXECUTE FUNCTION die()`);
    let deaths = 0;
    for (let state = 'REMOVING'; state !== 'COMPLETED'; { state } = await shown(begun)) {
      await erasures.eraseGroup().catch(() => (deaths += 1));
      await hasten();
    }
    await stores.ask('DROP TRIGGER die ON erasures');
    expect(deaths).toBeGreaterThan(20);
    expect(await shown(begun)).toMatchObject({ ...ERASED_OF_TRACES, cancelled: 10 });
  });

  it('counts everything once when several processes work on it', async () => {
    await leaveTraces(acme);
    const begun = await begin();
    const others = [1, 2].map(() => new RequestedErasureStore(stores.another(2).database));
    while ((await shown(begun)).state !== 'COMPLETED')
      await Promise.all([erasures, ...others].map((store) => eraseAll(store)));
    expect(await shown(begun)).toMatchObject({ ...ERASED_OF_TRACES, cancelled: 10 });
  });

  it('searches fewer rows at a time when a group runs out of time, and goes on', async () => {
    await stores.acceptEmails(acme, 60, { to: { address: ADA } });
    const inTimeAgain = await runOutOfTimeBeyond(stores, 20, 'DELETE', 'email_contents');
    const erased = await untilCompleted(await begin());
    await inTimeAgain();
    expect(erased).toMatchObject({ deleted: { emails: 60 }, cancelled: 60 });
  });

  it('is put off when a group fails, so that other erasures go on', async () => {
    const globex = await stores.openWorkspace();
    await addContact('bo@example.net', { friend: ADA });
    const [failing, other] = [await begin(), await begin({}, globex)];
    const next = await begin({ address: 'cy@example.net' });
    await stores.ask(
      `ALTER TABLE contacts ADD CONSTRAINT unchanged CHECK (workspace_id <> '${uuidOf(acme)}' OR properties::text LIKE '%@%') NOT VALID`,
    );
    let faults = 0;
    while (faults < 1) await erasures.eraseGroup().catch(() => (faults += 1));
    await eraseAll();
    await stores.ask('ALTER TABLE contacts DROP CONSTRAINT unchanged');
    expect((await shown(other, globex)).state).toBe('COMPLETED');
    expect((await shown(next)).state).toBe('COMPLETED');
    expect((await shown(failing)).state).toBe('REDACTING');
    expect(await untilCompleted(failing)).toMatchObject({ redacted: { contacts: 1 } });
  });

  it('waits for emails that are being sent, and erases them afterwards', async () => {
    await stores.acceptEmails(acme, 1, { to: { address: ADA } });
    const [claimed] = await stores.claim(acme);
    const begun = await begin();
    await eraseAll();
    expect(await shown(begun)).toMatchObject({ state: 'REMOVING' });
    expect(await ofAcme('emails')).toBe(1);
    await stores.outbox.record([sent(claimed!)]);
    expect(await untilCompleted(begun)).toMatchObject({ deleted: { emails: 1 }, inProgress: 0 });
    expect(await ofAcme('emails')).toBe(0);
  });

  it('ends even if an email is being sent all the time, and says so', async () => {
    await stores.acceptEmails(acme, 1, { to: { address: ADA } });
    await stores.claim(acme);
    expect(await untilCompleted(await begin())).toMatchObject({ inProgress: 1, remaining: { emails: 1 } });
  });

  it('also erases the suppression that an email in progress leads to', async () => {
    const begun = await begin();
    await stores.ask(
      `INSERT INTO suppressions (id, workspace_id, email, reason, created_by) VALUES ($1, $2, $3, 'HARD_BOUNCE', '{}')`,
      [newUuid(Date.now()), uuidOf(acme), ADA],
    );
    expect(await untilCompleted(begun)).toMatchObject({ deleted: { suppressions: 1 }, isRemembered: true });
  });
});

describe('Requesting an erasure again', () => {
  it('is the same one while it is unfinished, in any case of the address, also at the same moment', async () => {
    const addresses = [ADA, 'ADA@example.net', ADA];
    const begun = await Promise.all(addresses.map((address) => begin({ address })));
    expect(new Set(begun.map(({ id }) => id)).size).toBe(1);
    await untilCompleted(begun[0]!);
    expect((await begin()).id).not.toBe(begun[0]!.id);
  });

  it('searches again what it has searched before, and adds to its counts', async () => {
    await stores.acceptEmails(acme, 1, { to: { address: ADA } });
    const begun = await begin();
    await erasures.eraseGroup();
    await erasures.eraseGroup();
    await stores.acceptEmails(acme, 2, { to: { address: ADA } });
    expect((await begin()).id).toBe(begun.id);
    expect(await untilCompleted(begun)).toMatchObject({ deleted: { emails: 3 }, remaining: {} });
    expect(await ofAcme('emails')).toBe(0);
  });

  it('withholds emails from then on if it says so, and the first request did not', async () => {
    await begin();
    expect(await begin({ isSuppressing: true })).toMatchObject({ isSuppressing: true, isRemembered: true });
    expect(await begin()).toMatchObject({ isSuppressing: true });
  });
});

describe('The erasures of a workspace', () => {
  it('are limited, but one that is unfinished can be requested again', async () => {
    const first = await begin({}, acme, 2);
    await begin({ address: 'bo@example.net' }, acme, 2);
    expect(await begin({ address: 'cy@example.net' }, acme, 2)).toBeUndefined();
    expect((await begin({}, acme, 2)).id).toBe(first.id);
    expect(await begin({}, await stores.openWorkspace(), 2)).toBeDefined();
  });

  it('are done one after another, and do not slow down those of another', async () => {
    const globex = await stores.openWorkspace();
    const mine: Erasure[] = [];
    for (const name of ['ada', 'bo', 'cy']) mine.push(await begin({ address: `${name}@example.net` }));
    const other = await begin({}, globex);
    while ((await shown(other, globex)).state !== 'COMPLETED') await erasures.eraseGroup();
    const states = async () => (await Promise.all(mine.map((one) => shown(one)))).map(({ state }) => state);
    expect((await states()).slice(1)).toEqual(['REMOVING', 'REMOVING']);
    await eraseAll();
    expect(await states()).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
  });

  it('cannot be read by another workspace', async () => {
    const { id } = await begin();
    expect(await erasures.find(await stores.openWorkspace(), id)).toBeUndefined();
  });

  it('are deleted some time after they are completed', async () => {
    const completed = await untilCompleted(await begin());
    await begin();
    await stores.ask(`UPDATE erasures SET finished_at = finished_at - interval '91 days'`);
    expect(await erasures.forget(90)).toBe(1);
    expect(await erasures.find(acme, completed.id)).toBeUndefined();
    expect(await ofAcme('erasures')).toBe(1);
  });
});

/** All rows of a workspace about which an erasure of another may not change anything, as texts. */
async function contentsOf(workspaceId: WorkspaceId): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {};
  for (const table of ['emails', 'contacts', 'events', 'webhook_deliveries', 'idempotency_keys', 'usage']) {
    const sql = `SELECT t::text AS text FROM ${table} t WHERE workspace_id = $1 ORDER BY 1`;
    contents[table] = (await stores.ask<{ text: string }>(sql, [uuidOf(workspaceId)])).map(
      ({ text }) => text,
    );
  }
  const sql = `SELECT c::text AS text FROM email_contents c JOIN emails e ON e.id = c.email_id WHERE e.workspace_id = $1 ORDER BY 1`;
  contents['email_contents'] = (await stores.ask<{ text: string }>(sql, [uuidOf(workspaceId)])).map(
    ({ text }) => text,
  );
  contents['outbox'] = [
    String(
      await stores.count('outbox', `subject_id IN (SELECT id FROM emails WHERE workspace_id = $1)`, [
        uuidOf(workspaceId),
      ]),
    ),
  ];
  return contents;
}
