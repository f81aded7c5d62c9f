import { beforeAll, describe, expect, it } from '@jest/globals';
import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Answer } from './api.ts';
import { bodiesOf, call, type Caller, type DescribedRoute, idsOf, ROUTES } from './openapi-routes.ts';
import { make } from './factories.ts';
import { ROUTE_EFFECTS } from './route-effects.ts';
import { Stack } from './stack.ts';

const CHANGING = ROUTES.filter(({ method }) => method !== 'GET');
const RECORDING = CHANGING.flatMap((route) => {
  const recorded = ROUTE_EFFECTS[route.operationId];
  return (recorded?.audit ?? recorded?.events)
    ? [[`${route.method} ${route.path}`, route, recorded] as const]
    : [];
});

/** Fails the COMMIT of transactions that write an event or an audit entry of a workspace in the table `undone`, after all their statements have succeeded. */
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

const stack = Stack.forTests({ sends: false });
let tables: string[];
let tenants = 0;
beforeAll(async () => {
  tables = (
    await ask<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE  relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    )
  ).map(({ name }) => name);
  await stack.database.pool.query(FAILING_COMMITS);
});

async function ask<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return (await stack.database.pool.query<Row>(sql, values)).rows;
}

/** Prepares what a route's example needs, in a new workspace. @returns a function that makes the call */
async function prepared(
  route: DescribedRoute,
): Promise<{ workspaceId: WorkspaceId; change: () => Promise<Answer> }> {
  const tenant = await stack.createTenant(`Caller ${(tenants += 1)}`);
  const caller: Caller = { stack, tenant, api: stack.apiAs(tenant.keys.editor) };
  const parts: Record<string, string> = {};
  for (const { name, prefix } of idsOf(route)) parts[name] = await make(prefix, caller);
  Object.assign(parts, await ROUTE_EFFECTS[route.operationId]!.before?.(caller, parts));
  const [[, body]] = bodiesOf(route) as [[string, unknown]];
  return { workspaceId: tenant.workspaceId, change: () => call(route, caller, parts, body) };
}

/** The audit entries and events of a workspace that were written after a transaction, with their transactions. */
async function recordedSince(
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

/** Counts for the dashboard, which gateways write every ten seconds. */
const COUNTS = 'rate_minutes';

/** The contents of all tables, except for the counts and the last use of keys, which are written independently of requests. */
async function contents(): Promise<Record<string, unknown>> {
  const held = tables
    .filter((name) => name !== COUNTS)
    .map(async (name) => {
      const rows = await ask(`SELECT to_jsonb(t) - 'last_used_at' AS row FROM "${name}" t ORDER BY 1`);
      return [name, rows] as const;
    });
  return Object.fromEntries(await Promise.all(held));
}

describe('Every route that changes something', () => {
  it('has an entry in ROUTE_EFFECTS, and there are no others', () => {
    expect(CHANGING.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(ROUTE_EFFECTS).sort());
    expect(RECORDING.length).toBeGreaterThan(15);
  });
});

describe.each(RECORDING)('%s', (_, route, { audit = [], events = [], table }) => {
  it('writes to the audit log and reports events in the transaction of the change', async () => {
    const { workspaceId, change } = await prepared(route);
    const [{ now }] = (await ask<{ now: string }>('SELECT pg_current_xact_id()::text AS now')) as [
      { now: string },
    ];
    expect((await change()).status).toBe(200);
    const told = await recordedSince(now, workspaceId);
    const wanted = [audit, events].flat().sort();
    expect(told.map(({ what }) => what).sort()).toEqual(wanted);
    expect(new Set(told.map(({ xmin }) => xmin)).size).toBe(1);
    if (table === undefined) return;
    const changed = await ask<{ id: string }>(`SELECT id FROM "${table}" WHERE xmin::text = $1`, [
      told[0]!.xmin,
    ]);
    expect(changed.length).toBeGreaterThan(0);
  });

  it('leaves neither the change nor audit entries nor events when its transaction fails', async () => {
    const { workspaceId, change } = await prepared(route);
    await ask('INSERT INTO undone VALUES ($1)', [uuidOf(workspaceId)]);
    const before = await contents();
    expect((await change()).status).toBe(503);
    expect(await contents()).toEqual(before);
    await ask('DELETE FROM undone');
    expect((await change()).status).toBe(200);
  });
});
