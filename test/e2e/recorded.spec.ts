import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Answer } from './api.ts';
import { bodiesOf, call, type Caller, type DescribedRoute, idsOf, ROUTES } from './described.ts';
import { make } from './makers.ts';
import { RECORDED } from './recorded.ts';
import { Stack } from './stack.ts';

const CHANGING = ROUTES.filter(({ method }) => method !== 'GET');
const RECORDING = CHANGING.flatMap((route) => {
  const recorded = RECORDED[route.operationId];
  return (recorded?.audit ?? recorded?.events)
    ? [[`${route.method} ${route.path}`, route, recorded] as const]
    : [];
});

/** Fails the commit of whatever writes an event or an audit line of a workspace that is named in a table; everything before it has succeeded. */
const FAILING_COMMITS = `
CREATE TABLE undone (workspace_id uuid PRIMARY KEY);
CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM undone u WHERE u.workspace_id = NEW.workspace_id) THEN
    RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER undo AFTER INSERT ON audit_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION undo();
CREATE CONSTRAINT TRIGGER undo AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION undo();`;

let stack: Stack;
let tables: string[];
let tenants = 0;
beforeAll(async () => {
  stack = await Stack.start({ sends: false });
  tables = (
    await ask<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE  relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    )
  ).map(({ name }) => name);
  await stack.database.pool.query(FAILING_COMMITS);
});
afterAll(() => stack.close());

async function ask<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return (await stack.database.pool.query<Row>(sql, values)).rows;
}

/** Makes ready what a route's example needs, in a workspace of its own; gives what makes the call. */
async function prepared(
  route: DescribedRoute,
): Promise<{ workspaceId: WorkspaceId; change: () => Promise<Answer> }> {
  const tenant = await stack.createTenant(`Caller ${(tenants += 1)}`);
  const caller: Caller = { stack, tenant, api: stack.apiAs(tenant.keys.editor) };
  const parts: Record<string, string> = {};
  for (const { name, prefix } of idsOf(route)) parts[name] = await make(prefix, caller);
  Object.assign(parts, await RECORDED[route.operationId]!.before?.(caller, parts));
  const [[, body]] = bodiesOf(route) as [[string, unknown]];
  return { workspaceId: tenant.workspaceId, change: () => call(route, caller, parts, body) };
}

/** What has been told of a workspace by transactions from this one on, and by which. */
async function toldSince(
  transaction: string,
  workspaceId: WorkspaceId,
): Promise<{ xmin: string; what: string }[]> {
  return ask(
    `SELECT xmin::text, action AS what FROM audit_log WHERE workspace_id = $1 AND xmin::text::bigint > $2::bigint
     UNION ALL
     SELECT xmin::text, type FROM events WHERE workspace_id = $1 AND xmin::text::bigint > $2::bigint
     ORDER BY 2`,
    [uuidOf(workspaceId), transaction],
  );
}

/** All that the database holds, but for when keys were last used, which is noted apart from requests. */
async function contents(): Promise<Record<string, unknown>> {
  const held = tables.map(async (name) => {
    const rows = await ask(`SELECT to_jsonb(t) - 'last_used_at' AS row FROM "${name}" t ORDER BY 1`);
    return [name, rows] as const;
  });
  return Object.fromEntries(await Promise.all(held));
}

describe('Every route that changes something', () => {
  it('has a line that says what it tells of, and no line is of another', () => {
    expect(CHANGING.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(RECORDED).sort());
    expect(RECORDING.length).toBeGreaterThan(15);
  });
});

describe.each(RECORDING)('%s', (_, route, { audit, events = [], table }) => {
  it('tells of its change in the transaction that makes it', async () => {
    const { workspaceId, change } = await prepared(route);
    const [{ now }] = (await ask<{ now: string }>('SELECT pg_current_xact_id()::text AS now')) as [
      { now: string },
    ];
    expect((await change()).status).toBe(200);
    const told = await toldSince(now, workspaceId);
    const wanted = [...(audit === undefined ? [] : [audit]), ...events].sort();
    expect(told.map(({ what }) => what).sort()).toEqual(wanted);
    expect(new Set(told.map(({ xmin }) => xmin)).size).toBe(1);
    if (table === undefined) return;
    const changed = await ask<{ id: string }>(`SELECT id FROM "${table}" WHERE xmin::text = $1`, [
      told[0]!.xmin,
    ]);
    expect(changed.length).toBeGreaterThan(0);
  });

  it('leaves neither the change nor what it tells when its transaction fails', async () => {
    const { workspaceId, change } = await prepared(route);
    await ask('INSERT INTO undone VALUES ($1)', [uuidOf(workspaceId)]);
    const before = await contents();
    expect((await change()).status).toBe(503);
    expect(await contents()).toEqual(before);
    await ask('DELETE FROM undone');
    expect((await change()).status).toBe(200);
  });
});
