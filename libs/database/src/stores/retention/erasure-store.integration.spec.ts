import { afterEach, describe, expect, it } from '@jest/globals';
import { operator } from '@posthorn/domain';
import { newId, newUuid, SYSTEM_WORKSPACE_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { DeliveryTestStores } from '../webhooks/deliveries.fixture.ts';
import { IdentityChanges } from '../identities/identity-changes.ts';
import { newMail } from '../members/members.fixture.ts';
import { rawEmail, scheduledEmail, sent } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { runOutOfTimeBeyond } from '../../run-out-of-time.fixture.ts';
import { ErasureStore } from './erasure-store.ts';
import { NEW_ERASURE } from './new-erasure.fixture.ts';
import { PUT_BACK_DELIVERY } from '../../sql/delivery-changes.ts';

const stores = await openTestStores();

function addContact(workspaceId: WorkspaceId, email: string, status = 'SUBSCRIBED'): Promise<unknown> {
  return stores.ask(
    `INSERT INTO contacts (id, workspace_id, email, properties, status, unsubscribed_at)
     VALUES ($1, $2, $3, '{}', $4::contact_status, CASE WHEN $4 = 'UNSUBSCRIBED' THEN now() END)`,
    [newUuid(Date.now()), uuidOf(workspaceId), email, status],
  );
}

describe('Erasing a person', () => {
  it.each(['ada@example.net', 'ΝΙΚΟΣ@example.net', 'İpek@example.net'])(
    'deletes the link that verifies %s',
    async (address) => {
      const workspaceId = await stores.openWorkspace();
      await new IdentityChanges(stores.database).addAddress(workspaceId, operator('tests'), {
        id: newId('idn', Date.now()),
        address,
        link: newMail(),
      });
      const erasure = new ErasureStore(stores.database);
      expect(await erasure.forget({ address, workspaceId }, false, NEW_ERASURE)).toMatchObject({
        deleted: { verification_links: 1 },
      });
    },
  );

  it('keeps no workspace from accepting emails while it removes scheduled ones', async () => {
    const acme = await stores.openWorkspace();
    await stores.accept([scheduledEmail(acme, new Date(Date.now() + 86_400_000))]);
    const holder = await stores.database.pool.connect();
    await holder.query('BEGIN; LOCK TABLE email_engagements IN SHARE MODE');
    const removal = new ErasureStore(stores.database).removeEmails(
      {
        address: 'ada@example.net',
        workspaceId: acme,
      },
      NEW_ERASURE,
    );
    await stores.untilWaiting();
    const accepted = await stores.accept([rawEmail(acme, { to: { address: 'bo@example.net' } })]);
    await holder.query('COMMIT');
    holder.release();
    expect(accepted).toEqual([{ kind: 'accepted' }]);
    expect(await removal).toMatchObject({ deleted: { emails: 1 }, cancelled: 1 });
    expect(await stores.ask('SELECT accepted FROM usage WHERE workspace_id = $1', [uuidOf(acme)])).toEqual([
      { accepted: 1 },
    ]);
  });

  it('removes a delivery that is not in progress even if its event is being posted to another webhook', async () => {
    const erasure = new ErasureStore(stores.database);
    const deliveryStores = new DeliveryTestStores(stores);
    const workspaceId = await stores.openWorkspace();
    const busy = await deliveryStores.addWebhook(workspaceId);
    await deliveryStores.addWebhook(workspaceId);
    const [posted] = await deliveryStores.recordAndClaim(workspaceId, busy);
    const ada = { address: 'ada@example.net', workspaceId };

    expect(await erasure.removeEvents(ada, NEW_ERASURE)).toMatchObject({
      cancelled: 1,
      inProgress: 1,
      deleted: { webhook_deliveries: 1, events: 0 },
    });
    expect(await stores.count('webhook_deliveries')).toBe(1);
    expect(await stores.count('outbox', `queue = 'webhook'`)).toBe(1);

    await deliveryStores.deliveries.record([deliveryStores.outcome(posted!)]);
    expect(await erasure.removeEvents(ada, NEW_ERASURE)).toMatchObject({
      cancelled: 0,
      inProgress: 0,
      deleted: { webhook_deliveries: 1, events: 1 },
    });
    expect(await stores.count('webhook_deliveries')).toBe(0);
  });

  it('leaves a delivery that is made due again at that moment, and its event, to its next run', async () => {
    const erasure = new ErasureStore(stores.database);
    const deliveryStores = new DeliveryTestStores(stores);
    const workspaceId = await stores.openWorkspace();
    const webhook = await deliveryStores.addWebhook(workspaceId);
    const [failed] = await deliveryStores.recordAndClaim(workspaceId, webhook);
    const exhausted = deliveryStores.failed(failed!, { status: 'EXHAUSTED', retryAfterMs: null });
    await deliveryStores.deliveries.record([exhausted]);
    const ada = { address: 'ada@example.net', workspaceId };

    const again = await stores.database.pool.connect();
    await again.query('BEGIN');
    await again.query(PUT_BACK_DELIVERY, [uuidOf(failed!.id)]);
    const removal = erasure.removeEvents(ada, NEW_ERASURE);
    await stores.untilWaiting();
    await again.query('COMMIT');
    again.release();
    expect(await removal).toMatchObject({ inProgress: 1, deleted: { webhook_deliveries: 0, events: 0 } });
    expect(await deliveryStores.claim(webhook)).toMatchObject([{ id: failed!.id }]);
  });

  it('leaves a delivery that ends while the others of its event are being removed to its next run', async () => {
    const erasure = new ErasureStore(stores.database);
    const deliveryStores = new DeliveryTestStores(stores);
    const workspaceId = await stores.openWorkspace();
    const busy = await deliveryStores.addWebhook(workspaceId);
    await deliveryStores.addWebhook(workspaceId);
    const [posted] = await deliveryStores.recordAndClaim(workspaceId, busy);
    const ada = { address: 'ada@example.net', workspaceId };
    const holder = await stores.database.pool.connect();
    await holder.query('BEGIN; LOCK TABLE webhook_attempts IN SHARE MODE');
    const removal = erasure.removeEvents(ada, NEW_ERASURE);
    await stores.untilWaiting();
    await stores.ask('DELETE FROM outbox WHERE subject_id = $1', [uuidOf(posted!.id)]);
    await holder.query('COMMIT');
    holder.release();
    expect(await removal).toMatchObject({ inProgress: 1, deleted: { webhook_deliveries: 1, events: 0 } });
    expect(await erasure.removeEvents(ada, NEW_ERASURE)).toMatchObject({
      inProgress: 0,
      deleted: { webhook_deliveries: 1, events: 1 },
    });
  });

  it.each(['contacts', 'suppressions'])(
    'locks the %s of several workspaces in the order in which batches and other erasures lock them',
    async (table) => {
      const workspaces = [await stores.openWorkspace(), await stores.openWorkspace()].map(uuidOf).sort();
      const [first, second] = workspaces;
      // A scan of the table finds the first workspace last.
      await stores.ask('UPDATE workspaces SET name = name WHERE id = $1', [first]);
      for (const workspaceId of [second, first]) {
        const values = [newUuid(Date.now()), workspaceId, 'lovelace@example.net'];
        const [column, value] =
          table === 'contacts' ? ['properties', '{}'] : ['reason, created_by', `MANUAL', '{}`];
        await stores.ask(
          `INSERT INTO ${table} (id, workspace_id, email, ${column}) VALUES ($1, $2, $3, '${value}')`,
          values,
        );
      }
      const other = await stores.database.pool.connect();
      const lock = (workspaceId: unknown): Promise<unknown> =>
        other.query(`SELECT FROM ${table} WHERE workspace_id = $1 FOR UPDATE NOWAIT`, [workspaceId]);
      await other.query('BEGIN');
      await lock(first);
      const erasure = new ErasureStore(stores.database);
      const forgotten = erasure.forget(
        { address: 'lovelace@example.net', workspaceId: null },
        false,
        NEW_ERASURE,
      );
      await stores.untilWaiting();
      const locked = await lock(second).catch((error: Error) => error.message);
      await other.query('ROLLBACK');
      other.release();
      expect(locked).toMatchObject({ rowCount: 1 });
      expect(await forgotten).toMatchObject({ deleted: { [table]: 2 } });
    },
  );

  it('does not put the answer of an expired key back after another call has taken that key', async () => {
    const acme = uuidOf(await stores.openWorkspace());
    const answered = (to: string): string => JSON.stringify({ id: 'trs_1', to });
    await stores.ask(
      `INSERT INTO idempotency_keys (workspace_id, key, fingerprint, answer, expires_at)
       VALUES ($1, 'order-7', sha256('old'), $2, now())`,
      [acme, answered('ada@example.net')],
    );
    const taking = await stores.database.pool.connect();
    await taking.query('BEGIN');
    await taking.query('UPDATE idempotency_keys SET answer = $1', [answered('bo@example.net')]);
    const redacted = new ErasureStore(stores.database).redactAnswers({
      address: 'ada@example.net',
      workspaceId: null,
    });
    await stores.untilWaiting();
    await taking.query('COMMIT');
    taking.release();
    expect(await redacted).toEqual({ redacted: 0, deleted: 0 });
    expect(await stores.ask('SELECT answer FROM idempotency_keys')).toEqual([
      { answer: answered('bo@example.net') },
    ]);
  });

  it('does not redact new rows of the person that were added after the deletion, so that the next run finds them', async () => {
    const erasure = new ErasureStore(stores.database);
    const deliveryStores = new DeliveryTestStores(stores);
    const workspaceId = await stores.openWorkspace();
    const ada = { address: 'ada@example.net', workspaceId };
    const addContactWith = (email: string, note: string): Promise<unknown> =>
      stores.ask('INSERT INTO contacts (id, workspace_id, email, properties) VALUES ($1, $2, $3, $4)', [
        ...[newUuid(Date.now()), uuidOf(workspaceId), email, JSON.stringify({ note })],
      ]);
    await stores.acceptEmails(workspaceId, 1, { to: { address: 'Ada@example.net' } });
    await stores.acceptEmails(workspaceId, 1, {
      to: { address: 'bo@example.net' },
      subject: `Of ${ada.address}`,
    });
    await addContactWith('ADA@example.net', 'herself');
    await addContactWith('bo@example.net', `Friend of ${ada.address}`);
    await deliveryStores.record(workspaceId, 1);
    await stores.ask('DELETE FROM outbox');

    for (const table of ['emails', 'contacts'])
      expect([table, await erasure.redact(table, ada)]).toEqual([table, { redacted: 1, left: 1 }]);
    expect(await erasure.redact('events', ada)).toEqual({ redacted: 0, left: 1 });

    expect(await erasure.forget(ada, false, NEW_ERASURE)).toMatchObject({
      deleted: { contacts: 1 },
    });
    expect(await erasure.removeEmails(ada, NEW_ERASURE)).toMatchObject({ deleted: { emails: 1 } });
    expect(await erasure.removeEvents(ada, NEW_ERASURE)).toMatchObject({ deleted: { events: 1 } });
    for (const table of ['emails', 'contacts', 'events'])
      expect([table, await erasure.redact(table, ada)]).toEqual([table, { redacted: 0, left: 0 }]);
  });

  it('redacts an address as the encoders of other languages write it, and none that only ends with it', async () => {
    const workspaceId = await stores.openWorkspace();
    const html = (texts: readonly string[]): string => `<p>${texts.join('</p><p>')}</p>`;
    const others = ['x&#x2B;ada&#x2B;shop@example.net', 'x&#43;ada&#x2B;shop@example.net'];
    const [id] = await stores.acceptEmails(workspaceId, 1, {
      to: { address: 'bo@example.net' },
      html: html(['Ada&#x2B;Shop@example.net', ...others, String.raw`{"by":"ada\u002Bshop@example.net"}`]),
    });
    await stores.ask('DELETE FROM outbox');
    const ada = { address: 'ada+shop@example.net', workspaceId };
    expect(await new ErasureStore(stores.database).redact('email_contents', ada)).toMatchObject({
      redacted: 1,
    });
    expect(await stores.ask('SELECT html FROM email_contents WHERE email_id = $1', [uuidOf(id!)])).toEqual([
      { html: html(['[erased]', ...others, '{"by":"[erased]"}']) },
    ]);
  });

  it('does not store an outcome whose email or delivery was deleted', async () => {
    const erasure = new ErasureStore(stores.database);
    const deliveryStores = new DeliveryTestStores(stores);
    const workspaceId = await stores.openWorkspace();
    const ada = { address: 'ada@example.net', workspaceId };
    await stores.acceptEmails(workspaceId, 1, { to: { address: ada.address } });
    const [email] = await stores.claim(workspaceId);
    const [delivery] = await deliveryStores.recordAndClaim(
      workspaceId,
      await deliveryStores.addWebhook(workspaceId),
    );
    // The process that claimed them was suspended, and their leases have ended.
    await stores.ask(`UPDATE outbox SET state = 'ready', lease_until = NULL WHERE state = 'taken'`);
    expect(await erasure.removeEmails(ada, NEW_ERASURE)).toMatchObject({
      deleted: { emails: 1 },
      inProgress: 0,
    });
    expect(await erasure.removeEvents(ada, NEW_ERASURE)).toMatchObject({
      deleted: { events: 1 },
      inProgress: 0,
    });

    await stores.outbox.record([sent(email!)]);
    await deliveryStores.deliveries.record([deliveryStores.outcome(delivery!)]);
    expect(await stores.count('email_events', 'email_id = $1', [uuidOf(email!.id)])).toBe(0);
    expect(await stores.count('webhook_attempts', 'delivery_id = $1', [uuidOf(delivery!.id)])).toBe(0);
  });

  it('erases them only where that was asked, and remembers only whom nothing may be sent to', async () => {
    const erasure = new ErasureStore(stores.database);
    const deliveryStores = new DeliveryTestStores(stores);
    const [acme, globex] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const [address, inAcme] = ['ada@example.net', { address: 'Ada@example.net', workspaceId: acme }];
    for (const workspaceId of [acme, globex]) {
      await addContact(workspaceId, address);
      await deliveryStores.record(workspaceId, 1);
      const idempotency = {
        key: 'k',
        fingerprint: Buffer.alloc(32),
        answer: JSON.stringify({ id: 'trs_1', to: address }),
        expiresAt: new Date(Date.now() + 60_000),
      };
      await stores.accept([rawEmail(workspaceId, { to: { address }, idempotency })]);
    }
    expect(await erasure.forget(inAcme, false, NEW_ERASURE)).toMatchObject({
      deleted: { contacts: 1 },
      remembered: [],
    });
    expect(await erasure.removeEmails(inAcme, NEW_ERASURE)).toMatchObject({
      deleted: { emails: 1 },
    });
    expect(await erasure.removeEvents(inAcme, NEW_ERASURE)).toMatchObject({
      deleted: { events: 1 },
    });
    expect(await erasure.redactAnswers(inAcme)).toMatchObject({ redacted: 1 });
    for (const table of ['contacts', 'emails', 'events'])
      expect(await stores.count(table, 'workspace_id = $1', [uuidOf(globex)])).toBe(1);
    const { remembered } = await erasure.forget({ address, workspaceId: null }, true, NEW_ERASURE);
    expect(remembered).toEqual(expect.arrayContaining([acme, globex]));
    expect(remembered).not.toContain(SYSTEM_WORKSPACE_ID);
  });

  it('remembers after another erasure all that it remembered before', async () => {
    const erasure = new ErasureStore(stores.database);
    const acme = await stores.openWorkspace();
    const byron = { address: 'byron@example.net', workspaceId: acme };
    const remembered = () =>
      stores.ask('SELECT reason, is_unsubscribed FROM erased_recipients WHERE workspace_id = $1', [
        uuidOf(acme),
      ]);
    await erasure.forget(byron, true, NEW_ERASURE);
    expect(await remembered()).toEqual([{ reason: 'MANUAL', is_unsubscribed: false }]);
    await addContact(acme, byron.address, 'UNSUBSCRIBED');
    await erasure.forget(byron, false, NEW_ERASURE);
    const both = [{ reason: 'MANUAL', is_unsubscribed: true }];
    expect(await remembered()).toEqual(both);
    await erasure.forget(byron, true, NEW_ERASURE);
    expect(await remembered()).toEqual(both);
  });

  it('remembers both that they were unsubscribed and that nothing may be sent to them', async () => {
    const globex = await stores.openWorkspace();
    await addContact(globex, 'byron@example.net', 'UNSUBSCRIBED');
    await new ErasureStore(stores.database).forget(
      { address: 'byron@example.net', workspaceId: globex },
      true,
      NEW_ERASURE,
    );
    expect(
      await stores.ask('SELECT reason, is_unsubscribed FROM erased_recipients WHERE workspace_id = $1', [
        uuidOf(globex),
      ]),
    ).toEqual([{ reason: 'MANUAL', is_unsubscribed: true }]);
  });

  it('does not cancel an email that is claimed at that moment, but reports that it is in progress', async () => {
    const workspaceId = await stores.openWorkspace();
    const [id] = await stores.acceptEmails(workspaceId, 1, { to: { address: 'byron@example.net' } });
    const claiming = await stores.database.pool.connect();
    await claiming.query('BEGIN');
    await claiming.query(
      `UPDATE outbox SET state = 'taken', lease_until = now() + interval '1 minute' WHERE subject_id = $1`,
      [uuidOf(id!)],
    );
    const removal = new ErasureStore(stores.database).removeEmails(
      {
        address: 'byron@example.net',
        workspaceId,
      },
      NEW_ERASURE,
    );
    await stores.untilWaiting();
    await claiming.query('COMMIT');
    claiming.release();
    expect(await removal).toMatchObject({ cancelled: 0, inProgress: 1, deleted: { emails: 0 } });
  });

  it('finds their idempotency keys among any number of others', async () => {
    const workspaceId = await stores.openWorkspace();
    await stores.ask(
      `INSERT INTO idempotency_keys (workspace_id, key, fingerprint, answer, expires_at)
       SELECT $1::uuid, 'order-' || n, sha256('x'), '{}', now() FROM generate_series(1, 2000) n
       UNION ALL SELECT $1::uuid, 'to-byron@example.net', sha256('x'), '{}', now()`,
      [uuidOf(workspaceId)],
    );
    const byron = { address: 'byron@example.net', workspaceId };
    expect(await new ErasureStore(stores.database).redactAnswers(byron)).toEqual({ redacted: 0, deleted: 1 });
  });

  it('redacts the idempotency keys of emails to others wherever it deletes the keys themselves', async () => {
    const workspaceId = await stores.openWorkspace();
    const email = rawEmail(workspaceId, { to: { address: 'owner@example.net' } });
    const id = uuidOf(email.id);
    await stores.accept([email]);
    await stores.ask('DELETE FROM outbox WHERE subject_id = $1', [id]);
    await stores.ask('UPDATE emails SET idempotency_keys = $2 WHERE id = $1', [
      id,
      ['joined-mary@example.net', 'digest', 'of-mary@example.net.au'],
    ]);
    const mary = { address: 'mary@example.net', workspaceId };
    const erasure = new ErasureStore(stores.database);
    expect(await erasure.redact('emails', mary)).toEqual({ redacted: 1, left: 0 });
    expect(await stores.ask('SELECT idempotency_keys FROM emails WHERE id = $1', [id])).toEqual([
      { idempotency_keys: ['joined-[erased]', 'digest', 'of-mary@example.net.au'] },
    ]);
  });

  describe('when statements time out', () => {
    const ada = { address: 'ada@example.org', workspaceId: null };
    let inTimeAgain: () => Promise<void>;
    const takeNoMoreThan = async (rows: number, event: 'UPDATE' | 'DELETE'): Promise<void> => {
      inTimeAgain = await runOutOfTimeBeyond(stores, rows, event, 'email_contents');
    };
    afterEach(() => inTimeAgain());

    it('redacts fewer rows at a time, and goes on', async () => {
      const emails = await stores.acceptEmails(await stores.openWorkspace(), 60, {
        html: `<p>${ada.address}</p>`,
      });
      await stores.ask('DELETE FROM outbox');
      await takeNoMoreThan(20, 'UPDATE');
      expect(await new ErasureStore(stores.database).redact('email_contents', ada)).toEqual({
        redacted: emails.length,
        left: 0,
      });
      expect(await stores.count('email_contents', `html LIKE '%@example.org%'`)).toBe(0);
    });

    it('removes fewer emails at a time, goes on, and counts each of them once', async () => {
      await stores.acceptEmails(await stores.openWorkspace(), 60, {
        to: { address: ada.address },
        status: 'SCHEDULED',
        sendAt: new Date(Date.now() + 86_400_000),
      });
      await takeNoMoreThan(20, 'DELETE');
      const store = new ErasureStore(stores.database);
      const done = { removed: 0, cancelled: 0 };
      let group = await store.removeEmails(ada, NEW_ERASURE);
      for (; group !== undefined; group = await store.removeEmails(ada, NEW_ERASURE, group.end)) {
        done.removed += group.deleted['emails'] ?? 0;
        done.cancelled += group.cancelled;
      }
      expect(done).toEqual({ removed: 60, cancelled: 60 });
      expect(await stores.count('emails', 'to_address = $1', [ada.address])).toBe(0);
    });

    it('fails if a single row takes too long', async () => {
      await stores.acceptEmails(await stores.openWorkspace(), 1, { html: `<p>${ada.address}</p>` });
      await stores.ask('DELETE FROM outbox');
      await takeNoMoreThan(0, 'UPDATE');
      await expect(new ErasureStore(stores.database).redact('email_contents', ada)).rejects.toMatchObject({
        code: '57014',
      });
    });
  });
});
