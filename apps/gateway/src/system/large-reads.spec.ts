import { expect, it } from '@jest/globals';
import { newId, type WorkspaceId } from '@posthorn/kernel';
import type { Principal } from '@posthorn/auth';
import type {
  AuditLogStore,
  ContactChanges,
  ContactStore,
  EventFeedStore,
  TemplateChanges,
  TemplateStore,
} from '@posthorn/database';
import type { ReadDeliveries, SaveContacts, SaveTemplate, SendDeliveriesAgain } from '@posthorn/use-cases';
import { AuditLogController } from '../audit-log/audit-log.controller.ts';
import { ContactsController } from '../contacts/contacts.controller.ts';
import { EventsController } from '../events/events.controller.ts';
import { TemplatesController } from '../templates/templates.controller.ts';
import { DeliveriesController } from '../webhooks/deliveries.controller.ts';
import { LargeReads } from './large-reads.ts';

type Read = (workspaceId: WorkspaceId) => Promise<never>;

const callerOf = (workspaceId: WorkspaceId): Principal => ({ workspaceId }) as Principal;
const nothing = {} as unknown;
const STAYS = new AbortController().signal;

const ROUTES: Record<string, (read: Read) => (caller: Principal, gone: AbortSignal) => Promise<unknown>> = {
  'a template': (find) => {
    const templates = { find } as unknown as TemplateStore;
    const controller = new TemplatesController(
      nothing as SaveTemplate,
      templates,
      nothing as TemplateChanges,
      new LargeReads(),
    );
    return (caller, gone) => controller.read(caller, newId('tpl', Date.now()), gone);
  },
  'a page of contacts': (list) => {
    const contacts = { list } as unknown as ContactStore;
    const controller = new ContactsController(
      contacts,
      nothing as ContactChanges,
      nothing as SaveContacts,
      new LargeReads(),
    );
    return (caller, gone) => controller.list(caller, {}, gone);
  },
  'a page of events': (read) => {
    const controller = new EventsController({ read } as unknown as EventFeedStore, new LargeReads());
    return (caller, gone) => controller.list(caller, {}, gone);
  },
  'a page of the audit log': (list) => {
    const controller = new AuditLogController({ list } as unknown as AuditLogStore, new LargeReads());
    return (caller, gone) => controller.list(caller, {}, gone);
  },
  'a delivery': (read) => {
    const controller = new DeliveriesController(
      { read } as unknown as ReadDeliveries,
      nothing as SendDeliveriesAgain,
      new LargeReads(),
    );
    const [webhookId, id] = [newId('wh', Date.now()), newId('dlv', Date.now())];
    return (caller, gone) => controller.read(caller, webhookId, id, gone);
  },
};

it.each(Object.keys(ROUTES))(
  '%s is read once at a time for one workspace, and at once for another',
  async (what) => {
    const [flooding, other] = [newId('wrk', Date.now()), newId('wrk', Date.now())];
    const read: WorkspaceId[] = [];
    const fail: ((error: Error) => void)[] = [];
    const route = ROUTES[what]!((workspaceId) => {
      read.push(workspaceId);
      return new Promise((_resolve, reject) => fail.push(reject));
    });
    const all = [...Array.from({ length: 200 }, () => flooding), other].map((workspaceId) =>
      route(callerOf(workspaceId), STAYS).catch((error: Error) => error.message),
    );
    await new Promise(setImmediate);
    expect(read).toEqual([flooding, other]);
    while (fail.length > 0) {
      fail.shift()!(new Error('over'));
      await new Promise(setImmediate);
    }
    expect(new Set(await Promise.all(all))).toEqual(new Set(['over']));
  },
);

it.each(Object.keys(ROUTES))('%s is not read for a caller who disconnects while it waits', async (what) => {
  const workspaceId = newId('wrk', Date.now());
  let reads = 0;
  const fail: ((error: Error) => void)[] = [];
  const route = ROUTES[what]!(() => {
    reads += 1;
    return new Promise((_resolve, reject) => fail.push(reject));
  });
  const call = (gone: AbortSignal): Promise<unknown> =>
    route(callerOf(workspaceId), gone).catch((error: unknown) => error);
  const leaving = new AbortController();
  const [first, second] = [call(STAYS), call(leaving.signal)];
  leaving.abort();
  expect(await second).toMatchObject({ statusCode: 503 });
  fail[0]!(new Error('over'));
  await first;
  await new Promise(setImmediate);
  expect(reads).toBe(1);
});
