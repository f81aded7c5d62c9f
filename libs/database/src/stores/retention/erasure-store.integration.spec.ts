import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId, newUuid, SYSTEM_WORKSPACE_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Erasure, operator } from '@posthorn/domain';
import { DeliveryTestStores } from '../webhooks/deliveries.fixture.ts';
import { IdentityChanges } from '../identities/identity-changes.ts';
import { newMail } from '../members/members.fixture.ts';
import { rawEmail, scheduledEmail, sent } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { runOutOfTimeBeyond } from '../../run-out-of-time.fixture.ts';
import { PUT_BACK_DELIVERY } from '../../sql/delivery-changes.ts';
import { AuditLogStore } from '../workspaces/audit-log-store.ts';
import { ErasureStore } from './erasure-store.ts';

const ADA = 'ada@example.net';
const DAY_MS = 86_400_000;

const stores = await openTestStores();
const deliveryStores = new DeliveryTestStores(stores);
const erasures = new ErasureStore(stores.database);
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

/** Erases the person, from the request to the end. */
const erase = async (change: object = {}): Promise<Erasure> => untilCompleted(await begin(change));

const ofAcme = (table: string): Promise<number> => stores.count(table, 'workspace_id = $1', [uuidOf(acme)]);

function addContact(email: string, properties: object = {}, workspaceId = acme): Promise<unknown> {
  return stores.ask('INSERT INTO contacts (id, workspace_id, email, properties) VALUES ($1, $2, $3, $4)', [
    ...[newUuid(Date.now()), uuidOf(workspaceId), email, JSON.stringify(properties)],
  ]);
}

/** How many emails count for the monthly limit. */
async function countedOf(workspaceId: WorkspaceId): Promise<number> {
  const sql = 'SELECT accepted FROM usage WHERE workspace_id = $1';
  return (await stores.ask<{ accepted: number }>(sql, [uuidOf(workspaceId)]))[0]!.accepted;
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

/** All that {@link leaveTraces} accepts; the two that are scheduled are given back. */
const ACCEPTED_OF_TRACES = 9;
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
    expect(await countedOf(acme)).toBe(ACCEPTED_OF_TRACES - 2);
  });

  it.each([ADA, 'ΝΙΚΟΣ@example.net', 'İpek@example.net'])(
    'deletes the link that verifies %s',
    async (address) => {
      const identity = { id: newId('idn', Date.now()), address, link: newMail() };
      await new IdentityChanges(stores.database).addAddress(acme, operator('tests'), identity);
      expect(await begin({ address })).toMatchObject({ deleted: { verification_links: 1 } });
    },
  );

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

  it('searches everything that a workspace has, those of the system also what belongs to the installation', async () => {
    await leaveTraces(acme);
    await stores.ask(`INSERT INTO users (id, email, name, created_at) VALUES ($1, $2, 'Ada', now())`, [
      newUuid(Date.now()),
      ADA,
    ]);
    await stores.ask(
      `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', 'a', $1), ('webhook', 'a', $1)`,
      [`asked by ${ADA}`],
    );
    expect((await erase()).remaining).not.toHaveProperty('users');
    const begun = await begin({}, SYSTEM_WORKSPACE_ID);
    await eraseAll();
    await hasten();
    await eraseAll();
    expect(await shown(begun, SYSTEM_WORKSPACE_ID)).toMatchObject({
      state: 'COMPLETED',
      remaining: { users: 1, paused_lanes: 2 },
    });
    await stores.ask('DELETE FROM paused_lanes');
    await stores.ask('DELETE FROM users');
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
    expect(deaths).toBeGreaterThan(1);
    expect(await shown(begun)).toMatchObject({ ...ERASED_OF_TRACES, cancelled: 10 });
    expect(await countedOf(acme)).toBe(ACCEPTED_OF_TRACES - 2);
  });

  it('counts everything once when several processes work on it', async () => {
    await leaveTraces(acme);
    const begun = await begin();
    const others = [1, 2].map(() => new ErasureStore(stores.another(2).database));
    while ((await shown(begun)).state !== 'COMPLETED')
      await Promise.all([erasures, ...others].map((store) => eraseAll(store)));
    expect(await shown(begun)).toMatchObject({ ...ERASED_OF_TRACES, cancelled: 10 });
  });

  it('gives back the places of scheduled emails in the monthly limit when several processes work on it', async () => {
    const scheduled = { status: 'SCHEDULED', sendAt: new Date(Date.now() + DAY_MS) } as const;
    await stores.acceptEmails(acme, 150, { to: { address: ADA }, ...scheduled });
    const begun = await begin();
    const others = [1, 2].map(() => new ErasureStore(stores.another(2).database));
    while ((await shown(begun)).state !== 'COMPLETED') {
      await Promise.all([erasures, ...others].map((store) => eraseAll(store)));
      await hasten();
    }
    expect(await shown(begun)).toMatchObject({ cancelled: 150, deleted: { emails: 150 }, inProgress: 0 });
    expect(await countedOf(acme)).toBe(0);
  });

  it('searches fewer rows at a time when a group runs out of time, and goes on', async () => {
    await stores.acceptEmails(acme, 60, { to: { address: ADA } });
    const inTimeAgain = await runOutOfTimeBeyond(stores, 20, 'DELETE', 'email_contents');
    const erased = await untilCompleted(await begin());
    await inTimeAgain();
    expect(erased).toMatchObject({ deleted: { emails: 60 }, cancelled: 60 });
  });

  it('redacts fewer rows at a time when a group runs out of time, and goes on', async () => {
    await stores.acceptEmails(acme, 60, { to: { address: 'bo@example.net' }, html: `<p>${ADA}</p>` });
    await stores.ask('DELETE FROM outbox');
    const inTimeAgain = await runOutOfTimeBeyond(stores, 20, 'UPDATE', 'email_contents');
    const erased = await untilCompleted(await begin());
    await inTimeAgain();
    expect(erased).toMatchObject({ redacted: { email_contents: 60 }, remaining: {} });
  });

  it('searches large contents some megabytes at a time, not all of them in one transaction', async () => {
    const html = 'x'.repeat(2 ** 21);
    await stores.acceptEmails(acme, 8, { to: { address: 'bo@example.net' }, html });
    await stores.ask('DELETE FROM outbox');
    await begin();
    const steps: string[] = [];
    while ((await erasures.eraseGroup()) !== undefined)
      steps.push((await stores.ask<{ step: string }>('SELECT step FROM erasures'))[0]!.step);
    expect(steps.filter((step) => step === 'email_contents').length).toBeGreaterThanOrEqual(2);
  });

  it('fails if a single row takes too long', async () => {
    await stores.acceptEmails(acme, 1, { to: { address: 'bo@example.net' }, html: `<p>${ADA}</p>` });
    await stores.ask('DELETE FROM outbox');
    const inTimeAgain = await runOutOfTimeBeyond(stores, 0, 'UPDATE', 'email_contents');
    await begin();
    await expect(eraseAll()).rejects.toMatchObject({ code: '57014' });
    await inTimeAgain();
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
    expect((await shown(failing)).state).not.toBe('COMPLETED');
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

describe('What is added after an erasure was requested', () => {
  /** As if the erasure had been requested some time ago. */
  const laterThan = (erasure: Erasure): Promise<unknown> =>
    stores.ask(`UPDATE erasures SET erases_until = erases_until - interval '1 minute' WHERE id = $1`, [
      uuidOf(erasure.id),
    ]);

  it('stays: whoever comes back gets their emails, is a contact, and is reported', async () => {
    const begun = await begin();
    await laterThan(begun);
    const [email] = await stores.acceptEmails(acme, 1, { to: { address: ADA }, acceptedAt: new Date() });
    await addContact(ADA);
    await deliveryStores.addWebhook(acme);
    await deliveryStores.record(acme, 1);
    expect(await untilCompleted(begun)).toMatchObject({ cancelled: 0, inProgress: 0 });
    expect((await stores.claim(acme)).map(({ id }) => id)).toEqual([email]);
    for (const table of ['contacts', 'events']) expect([table, await ofAcme(table)]).toEqual([table, 1]);
  });

  it('goes if it is about an email that was there before', async () => {
    const [email] = await stores.acceptEmails(acme, 1, { to: { address: ADA } });
    const begun = await begin();
    await deliveryStores.addWebhook(acme);
    await deliveryStores.record(acme, 1);
    const about = JSON.stringify({ event: 'EMAIL_SENT', data: { email: { id: email, to: ADA } } });
    await stores.ask(
      `UPDATE events SET payload = $1, created_at = now() + interval '1 minute' WHERE workspace_id = $2`,
      [about, uuidOf(acme)],
    );
    expect(await untilCompleted(begun)).toMatchObject({ deleted: { emails: 1, events: 1 } });
  });

  it('goes if the erasure is requested again', async () => {
    const begun = await begin();
    await laterThan(begun);
    await stores.acceptEmails(acme, 1, { to: { address: ADA }, acceptedAt: new Date() });
    await begin();
    expect(await untilCompleted(begun)).toMatchObject({ deleted: { emails: 1 } });
  });
});

describe('An erasure in all workspaces', () => {
  const everywhere = { isEverywhere: true };
  const recorded = async ({ id }: Erasure): Promise<object[]> => {
    const page = { limit: 10, sort: 'createdAt.asc' } as const;
    const { items } = await new AuditLogStore(stores.database).list(acme, page, { subjectId: id });
    return items.map(({ actor, detail }) => ({ actor, detail }));
  };

  it('is in the audit log of those that had the person, with the operator and what was done there', async () => {
    await addContact(ADA);
    const [found, nobody] = [
      await erase(everywhere),
      await erase({ ...everywhere, address: 'no@example.net' }),
    ];
    const detail = { completed: true, deleted: 1, redacted: 0, cancelled: 0 };
    expect(await recorded(found)).toEqual([{ actor: operator('test'), detail }]);
    expect(await recorded(nobody)).toEqual([]);
  });

  it('is recorded as one of the workspace if that asks for the same person meanwhile', async () => {
    const begun = await begin(everywhere);
    await begin();
    await begin(everywhere);
    await untilCompleted(begun);
    expect(await recorded(begun)).toMatchObject([
      { actor: { kind: 'operator' }, detail: { begun: true } },
      { actor: { kind: 'system' }, detail: { completed: true } },
    ]);
  });
});

describe('An erasure beside other work', () => {
  const inAnother = async (sql: string, values: unknown[] = []): Promise<() => Promise<void>> => {
    const client = await stores.database.pool.connect();
    await client.query('BEGIN');
    await client.query(sql, values);
    return async () => {
      await client.query('COMMIT');
      client.release();
    };
  };

  it('keeps no workspace from accepting emails while it removes scheduled ones', async () => {
    await stores.accept([scheduledEmail(acme, new Date(Date.now() + DAY_MS))]);
    await begin();
    const letGo = await inAnother('LOCK TABLE email_engagements IN SHARE MODE');
    const removal = erasures.eraseGroup();
    await stores.untilWaiting();
    const accepted = await stores.accept([rawEmail(acme, { to: { address: 'bo@example.net' } })]);
    await letGo();
    await removal;
    expect(accepted).toEqual([{ kind: 'accepted' }]);
    expect(await countedOf(acme)).toBe(1);
  });

  it('removes a delivery that is not in progress even if its event is being posted to another webhook', async () => {
    const busy = await deliveryStores.addWebhook(acme);
    await deliveryStores.addWebhook(acme);
    const [posted] = await deliveryStores.recordAndClaim(acme, busy);
    const begun = await begin();
    await eraseAll();
    expect(await shown(begun)).toMatchObject({
      state: 'REMOVING',
      cancelled: 1,
      deleted: { webhook_deliveries: 1 },
    });
    expect([await ofAcme('webhook_deliveries'), await stores.count('outbox', `queue = 'webhook'`)]).toEqual([
      1, 1,
    ]);
    await deliveryStores.deliveries.record([deliveryStores.outcome(posted!)]);
    expect(await untilCompleted(begun)).toMatchObject({
      cancelled: 1,
      inProgress: 0,
      deleted: { webhook_deliveries: 2, events: 1 },
    });
  });

  it('leaves a delivery that is made due again at that moment, and its event, to its next search', async () => {
    const webhook = await deliveryStores.addWebhook(acme);
    const [failed] = await deliveryStores.recordAndClaim(acme, webhook);
    await deliveryStores.deliveries.record([
      deliveryStores.failed(failed!, { status: 'EXHAUSTED', retryAfterMs: null }),
    ]);
    const begun = await begin();
    const letGo = await inAnother(PUT_BACK_DELIVERY, [uuidOf(failed!.id)]);
    const removal = eraseAll();
    await stores.untilWaiting();
    await letGo();
    await removal;
    expect(await ofAcme('events')).toBe(1);
    expect(await untilCompleted(begun)).toMatchObject({
      inProgress: 0,
      deleted: { webhook_deliveries: 1, events: 1 },
    });
  });

  it('does not cancel an email that is claimed at that moment, but reports that it is in progress', async () => {
    const [id] = await stores.acceptEmails(acme, 1, { to: { address: ADA } });
    const begun = await begin();
    const claim = `UPDATE outbox SET state = 'taken', lease_until = now() + interval '1 minute' WHERE subject_id = $1`;
    const letGo = await inAnother(claim, [uuidOf(id!)]);
    const removal = eraseAll();
    await stores.untilWaiting();
    await letGo();
    await removal;
    expect(await shown(begun)).toMatchObject({ state: 'REMOVING', cancelled: 0 });
    expect(await ofAcme('emails')).toBe(1);
  });

  it('does not put the answer of an expired key back after another call has taken that key', async () => {
    const answered = (to: string): string => JSON.stringify({ id: 'trs_1', to });
    await stores.ask(
      `INSERT INTO idempotency_keys (workspace_id, key, fingerprint, answer, expires_at)
       VALUES ($1, 'order-7', sha256('old'), $2, now())`,
      [uuidOf(acme), answered(ADA)],
    );
    const begun = await begin();
    const letGo = await inAnother('UPDATE idempotency_keys SET answer = $1', [answered('bo@example.net')]);
    const erased = untilCompleted(begun);
    await stores.untilWaiting();
    await letGo();
    expect(await erased).toMatchObject({ redacted: {} });
    expect(
      await stores.ask('SELECT answer FROM idempotency_keys WHERE workspace_id = $1', [uuidOf(acme)]),
    ).toEqual([{ answer: answered('bo@example.net') }]);
  });

  it('lets no outcome be stored whose email or delivery was deleted', async () => {
    await stores.acceptEmails(acme, 1, { to: { address: ADA } });
    const [email] = await stores.claim(acme);
    const webhook = await deliveryStores.addWebhook(acme);
    const [delivery] = await deliveryStores.recordAndClaim(acme, webhook);
    // The process that claimed them was suspended, and their leases have ended.
    await stores.ask(`UPDATE outbox SET state = 'ready', lease_until = NULL WHERE state = 'taken'`);
    expect(await erase()).toMatchObject({ deleted: { emails: 1, events: 1 }, inProgress: 0 });
    await stores.outbox.record([sent(email!)]);
    await deliveryStores.deliveries.record([deliveryStores.outcome(delivery!)]);
    expect(await stores.count('email_events', 'email_id = $1', [uuidOf(email!.id)])).toBe(0);
    expect(await stores.count('webhook_attempts', 'delivery_id = $1', [uuidOf(delivery!.id)])).toBe(0);
  });
});

describe('An erasure finds', () => {
  const emailToOther = async (change: object): Promise<string> => {
    const [id] = await stores.acceptEmails(acme, 1, { to: { address: 'bo@example.net' }, ...change });
    await stores.ask('DELETE FROM outbox WHERE subject_id = $1', [uuidOf(id!)]);
    return uuidOf(id!);
  };

  it('an address as the encoders of other languages write it, and none that only ends with it', async () => {
    const html = (texts: readonly string[]): string => `<p>${texts.join('</p><p>')}</p>`;
    const others = ['x&#x2B;ada&#x2B;shop@example.net', 'x&#43;ada&#x2B;shop@example.net'];
    const id = await emailToOther({
      html: html(['Ada&#x2B;Shop@example.net', ...others, String.raw`{"by":"ada\u002Bshop@example.net"}`]),
    });
    expect(await erase({ address: 'ada+shop@example.net' })).toMatchObject({
      redacted: { email_contents: 1 },
    });
    expect(await stores.ask('SELECT html FROM email_contents WHERE email_id = $1', [id])).toEqual([
      { html: html(['[erased]', ...others, '{"by":"[erased]"}']) },
    ]);
  });

  it('idempotency keys among any number of others', async () => {
    await stores.ask(
      `INSERT INTO idempotency_keys (workspace_id, key, fingerprint, answer, expires_at)
       SELECT $1::uuid, 'order-' || n, sha256('x'), '{}', now() FROM generate_series(1, 2000) n
       UNION ALL SELECT $1::uuid, 'to-' || $2, sha256('x'), '{}', now()`,
      [uuidOf(acme), ADA],
    );
    expect(await erase()).toMatchObject({ deleted: { idempotency_keys: 1 } });
    expect(await ofAcme('idempotency_keys')).toBe(2_000);
  });

  it('the idempotency keys of emails to others wherever it deletes the keys themselves', async () => {
    const id = await emailToOther({});
    await stores.ask('UPDATE emails SET idempotency_keys = $2 WHERE id = $1', [
      id,
      [`joined-${ADA}`, 'digest', `of-${ADA}.au`],
    ]);
    expect(await erase()).toMatchObject({ redacted: { emails: 1 }, remaining: {} });
    expect(await stores.ask('SELECT idempotency_keys FROM emails WHERE id = $1', [id])).toEqual([
      { idempotency_keys: ['joined-[erased]', 'digest', `of-${ADA}.au`] },
    ]);
  });
});

describe('What is remembered of an erased person', () => {
  const unsubscribe = (): Promise<unknown> =>
    stores.ask(
      `UPDATE contacts SET status = 'UNSUBSCRIBED', unsubscribed_at = now() WHERE workspace_id = $1`,
      [uuidOf(acme)],
    );
  const remembered = (): Promise<object[]> =>
    stores.ask('SELECT reason, is_unsubscribed FROM erased_recipients WHERE workspace_id = $1', [
      uuidOf(acme),
    ]);

  it('is nothing, if they were on no list', async () => {
    await addContact(ADA);
    expect([(await erase()).isRemembered, await remembered()]).toEqual([false, []]);
  });

  it('is also what an earlier erasure remembered', async () => {
    await erase({ isSuppressing: true });
    expect(await remembered()).toEqual([{ reason: 'MANUAL', is_unsubscribed: false }]);
    await addContact(ADA);
    await unsubscribe();
    await erase();
    const both = [{ reason: 'MANUAL', is_unsubscribed: true }];
    expect(await remembered()).toEqual(both);
    await erase({ isSuppressing: true });
    expect(await remembered()).toEqual(both);
  });

  it('is both that they were unsubscribed and that nothing may be sent to them', async () => {
    await addContact(ADA);
    await unsubscribe();
    await erase({ isSuppressing: true });
    expect(await remembered()).toEqual([{ reason: 'MANUAL', is_unsubscribed: true }]);
  });

  it('is nothing in the workspace of the system, whose mails must arrive', async () => {
    expect(await begin({ isSuppressing: true }, SYSTEM_WORKSPACE_ID)).toMatchObject({ isRemembered: false });
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

  it('take turns also while one of them cancels hundreds of scheduled emails', async () => {
    const scheduled = { status: 'SCHEDULED', sendAt: new Date(Date.now() + DAY_MS) } as const;
    await stores.acceptEmails(acme, 500, { to: { address: ADA }, ...scheduled });
    const globex = await stores.openWorkspace();
    const [mine, other] = [await begin(), await begin({}, globex)];
    while ((await shown(other, globex)).state !== 'COMPLETED') await erasures.eraseGroup();
    expect((await shown(mine)).cancelled).toBeLessThan(500);
    expect(await untilCompleted(mine)).toMatchObject({ cancelled: 500, deleted: { emails: 500 } });
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
