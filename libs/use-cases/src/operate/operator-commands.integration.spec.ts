import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ApiKeyStore,
  type AuditEntry,
  type AuditLogFilter,
  AuditLogStore,
  type Database,
  openDatabase,
  WorkspaceDeletionStore,
} from '@posthorn/database';
import { operator } from '@posthorn/domain';
import { newUuid, SYSTEM_WORKSPACE_ID, type WorkspaceId } from '@posthorn/kernel';
import {
  createTestDatabase,
  type EndedProgram,
  ProgramUnderTest,
  runOperatorCommand,
  type TestDatabase,
  testPostgresUrl,
  listenOnLoopback,
} from '@posthorn/testing';
import { createApiKey } from './create-api-key.ts';

const ROOT_URL = new URL('../../../../', import.meta.url);
const KEY = `test:${randomBytes(32).toString('base64')}`;
const UNKNOWN = 'wrk_01h2xcejqtf2nbrexx3vqjhp41';

/** The fields of answers that tests use later. */
interface Answer {
  readonly id: WorkspaceId;
  readonly secretKey: string;
  readonly secretHint: string;
}

let testDatabase: TestDatabase;
let database: Database;
let workspaceId: WorkspaceId;

const inIt = (): string[] => ['--workspace', workspaceId];

interface CommandLine {
  carryOut(args: string[]): Promise<EndedProgram>;
}

/** The command line in this process, because starting one takes far longer than nearly all commands. */
let commandLine: CommandLine;

const posthorn = (...args: string[]): Promise<EndedProgram> => commandLine.carryOut(args);

/** The human-readable output of a command. */
async function told(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await posthorn(...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** The JSON output of a command. */
async function answer(...args: string[]): Promise<Answer> {
  return JSON.parse(await told(...args, '--json')) as Answer;
}

/** The changes of one kind in the workspace's audit log, from the oldest. */
async function audited(action: NonNullable<AuditLogFilter['action']>): Promise<readonly AuditEntry[]> {
  const page = { limit: 10, sort: 'createdAt.asc' } as const;
  return (await new AuditLogStore(database).list(workspaceId, page, { action })).items;
}

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  process.env['DATABASE_URL'] = testDatabase.url;
  process.env['ENCRYPTION_KEYS'] = KEY;
  // It is plain JavaScript that the compiler does not follow.
  commandLine = (await import(new URL('tools/posthorn/main.mjs', ROOT_URL).href)) as CommandLine;
  database = openDatabase({ url: testDatabase.url, poolSize: 2, applicationName: 'test' });
  workspaceId = (await answer('workspace', 'create', '--name', ' The shop ', '--monthly-limit', '7')).id;
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

describe('An operator at the command line', () => {
  it('R1, R4: sets and removes the limits of a workspace, which is audited', async () => {
    const limit = (...flags: string[]): Promise<Answer> => answer('workspace', 'limit', ...inIt(), ...flags);
    const own = { monthlyEmailLimit: 70, ratePerSecond: 500, rateBurst: 0 };
    expect(await limit('--monthly-limit', '70', '--rate', '500', '--burst', '0')).toMatchObject(own);
    expect(await told('workspace', 'limit', ...inIt(), '--rate', '500')).toBe(
      `${workspaceId} (The shop) now has: 70 (monthly limit), 500 (requests a second), none (requests at once).\n`,
    );
    const before = { monthlyEmailLimit: 7, ratePerSecond: null, rateBurst: null };
    expect(await limit('--burst', 'default', '--rate', 'default', '--monthly-limit', '7')).toMatchObject(
      before,
    );
    const changes = await audited('workspace.limits_changed');
    expect(changes.map(({ detail }) => detail)).toEqual([own, before]);
    expect(changes[0]).toMatchObject({ subjectId: workspaceId, actor: { kind: 'operator' } });
  });

  it('sees which workspaces are being deleted, and is refused to add anything to them or to change them', async () => {
    const { id } = await answer('workspace', 'create', '--name', 'Leaving');
    expect(await told('workspace', 'list')).not.toContain('being deleted');
    // What a deletion leaves that was interrupted after its first transaction.
    await new WorkspaceDeletionStore(database).close(id, operator('test'), { name: 'Leaving' });
    const changes = [
      ['key', 'create', '--name', 'Late'],
      ['identity', 'create', '--domain', 'late.example', '--verified'],
      ['workspace', 'limit', '--rate', '5'],
      ['workspace', 'retain', '--content-days', '5'],
      ['workspace', 'track', '--url', 'https://links.late.example'],
      ['workspace', 'record', '--email-events', 'all'],
    ];
    for (const [noun, verb, ...flags] of changes) {
      const ended = await posthorn(noun!, verb!, '--workspace', id, ...flags);
      expect(ended).toMatchObject({
        code: 1,
        stderr: `posthorn: ${id} is being deleted; \`workspace delete\` completes that\n`,
      });
    }
    const lines = (await told('workspace', 'list')).split('\n');
    const after = (one: string) => lines[lines.findIndex((line) => line.startsWith(one)) + 1];
    expect(after(id)).toMatch(/^ {2}being deleted since \d{4}-/);
    expect(after(workspaceId)).not.toContain('being deleted');
    expect(JSON.parse(await told('workspace', 'list', '--json'))).toMatchObject([
      { id: workspaceId, deletionBegunAt: null },
      { id, deletionBegunAt: expect.stringMatching(/Z$/) },
    ]);
    expect(await told('resume')).toBe('Nothing was paused as a whole.\n');
    await told('workspace', 'delete', '--workspace', id, '--name', 'Leaving');
  });

  it.each([
    [['--rate', 'many'], 2, /--rate must be a whole number from 0 to 100000/],
    [['--burst=-1'], 2, /--burst must be a whole number from 0 to 1000000/],
    [['--monthly-limit', '1.5'], 2, /--monthly-limit must be a whole number/],
    [[], 2, /needs at least one of --monthly-limit, --rate, --burst/],
  ])('gets an error that explains the invalid limits %j', async (flags, code, message) => {
    const ended = await posthorn('workspace', 'limit', ...inIt(), ...flags);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
  });

  it('sets and removes the retention of a workspace, which is audited', async () => {
    const retain = (...flags: string[]): Promise<string> => told('workspace', 'retain', ...inIt(), ...flags);
    expect(await retain('--content-days', '0', '--metadata-days', '180')).toBe(
      `${workspaceId} (The shop) now keeps: content 0 days, metadata 180 days, events as long as the installation.\n`,
    );
    expect(await retain('--content-days', 'default', '--metadata-days', 'default')).toContain(
      'content as long as the installation, metadata as long as the installation',
    );
    const changes = await audited('workspace.retention_changed');
    expect(changes.map(({ detail }) => detail)).toEqual([
      { contentDays: 0, metadataDays: 180 },
      { contentDays: null, metadataDays: null },
    ]);
  });

  it.each([
    [['--content-days', '366'], 2, /--content-days must be a whole number of days from 0 to 365/],
    [['--metadata-days', '0'], 2, /--metadata-days must be a whole number of days from 1 to 3650/],
    [['--event-days', 'ever'], 2, /--event-days must be a whole number of days from 1 to 365/],
    [[], 2, /needs at least one of --content-days, --metadata-days, --event-days/],
  ])('gets an error that explains the invalid days %j', async (flags, code, message) => {
    const ended = await posthorn('workspace', 'retain', ...inIt(), ...flags);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
  });

  it('N5: sets which events of emails the feed of a workspace has, which is audited', async () => {
    const record = (...rest: string[]): Promise<string> => told('workspace', 'record', ...inIt(), ...rest);
    expect(await record('--email-events', 'all')).toBe(
      `The feed of ${workspaceId} (The shop) now gets all events of its emails.\n`,
    );
    expect(JSON.parse(await record('--email-events', 'all', '--json'))).toMatchObject({
      recordsAllEvents: true,
    });
    expect(await record('--email-events', 'subscribed')).toContain('that a webhook is subscribed to');
    const changes = await audited('workspace.recording_changed');
    expect(changes.map(({ detail }) => detail)).toEqual([
      { recordsAllEvents: true },
      { recordsAllEvents: false },
    ]);
    const ended = await posthorn('workspace', 'record', ...inIt(), '--email-events', 'none');
    expect([ended.code, ended.stderr]).toEqual([
      2,
      expect.stringMatching(/--email-events must be one of all, subscribed/),
    ]);
  });

  it('S17: sets and removes the base URL of the tracked links of a workspace, which is audited', async () => {
    const track = (...rest: string[]): Promise<string> => told('workspace', 'track', ...inIt(), ...rest);
    const trackingUrl = 'https://links.shop.example';
    expect(await track('--url', 'https://Links.Shop.example/')).toMatch(
      /begin with https:\/\/links\.shop\.example\.\n.*must lead to \/t\/ of the gateway/,
    );
    expect(JSON.parse(await track('--url', 'default', '--json'))).toMatchObject({ trackingUrl: null });
    const changes = await audited('workspace.tracking_changed');
    expect(changes.map(({ detail }) => detail)).toEqual([{ trackingUrl }, { trackingUrl: null }]);
  });

  it.each([
    ['https://links.shop.example/t', /--url has more than a host/],
    // A variable of a script that is empty.
    ['', /--url is not a URL/],
  ])('S17: gets an error that explains an invalid base URL for tracked links: %j', async (url, fault) => {
    const ended = await posthorn('workspace', 'track', ...inIt(), '--url', url);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(fault)]);
  });

  it('sees who paused everything, and who changed what in a workspace', async () => {
    await told('pause', '--everything', '--reason', 'The relay moves');
    await told('resume', '--everything');
    const by = `operator ${userInfo().username}`;
    expect(await told('audit', 'list')).toMatch(
      new RegExp(`sending\\.resumed +${by} .*"failed":0.*\n.*sending\\.paused +${by} .*"The relay moves"`),
    );
    expect(await told('audit', 'list', ...inIt())).toMatch(new RegExp(`workspace\\.limits_changed +${by} `));
    const unknown = await posthorn('audit', 'list', '--workspace', 'wrk_01h2xcejqtf2nbrexx3vqjhp41');
    expectRefusal(unknown, 'There is no workspace wrk_01h2xcejqtf2nbrexx3vqjhp41');
  });

  it('sees who created a workspace, and who gave whom access to the dashboard', async () => {
    const actor = { kind: 'operator', name: userInfo().username };
    expect(await audited('workspace.created')).toMatchObject([
      { actor, subjectId: workspaceId, detail: { name: 'The shop', monthlyEmailLimit: 7 } },
    ]);
    await told('operator', 'create', '--name', 'ada', '--role', 'operator');
    expect((await posthorn('operator', 'create', '--name', 'ada')).code).toBe(1);
    await told('operator', 'password', '--name', 'ada');
    await told('operator', 'delete', '--name', 'ada');
    expect((await posthorn('operator', 'delete', '--name', 'ada')).code).toBe(1);
    const newest = { limit: 3, sort: 'createdAt.desc' } as const;
    const { items } = await new AuditLogStore(database).list(SYSTEM_WORKSPACE_ID, newest);
    expect(items).toMatchObject([
      { action: 'operator.deleted', actor, detail: { name: 'ada' } },
      { action: 'operator.password_changed', actor, detail: { name: 'ada' } },
      { action: 'operator.created', actor, detail: { name: 'ada', role: 'operator' } },
    ]);
    const shown = await told('audit', 'list');
    expect(shown).not.toContain('php_');
  });

  it('sees the existing workspaces', async () => {
    const { code, stdout, stderr } = await runOperatorCommand(
      testDatabase.url,
      'workspace',
      'list',
      '--json',
    );
    expect([code, stderr, JSON.parse(stdout)]).toEqual([0, '', await answer('workspace', 'list')]);
    expect(await answer('workspace', 'list')).toMatchObject([
      { id: workspaceId, name: 'The shop', monthlyEmailLimit: 7 },
    ]);
    expect(await told('workspace', 'list')).toMatch(
      new RegExp(`^ID +NAME +A MONTH .*\n${workspaceId}  The shop  7 `),
    );
  });

  it('is shown the secret of a key once, and never again', async () => {
    const key = await answer('key', 'create', ...inIt(), '--name', 'Editor', '--role', 'EDITOR');
    expect(key).toMatchObject({ displayName: 'Editor', role: 'EDITOR' });
    expect(await told('key', 'create', ...inIt(), '--name', 'Web')).toMatch(
      /\(Web\), role API_USER.*\n\n {2}phk_\w{38}\n\nIt is shown only this once/,
    );
    const listed = await told('key', 'list', ...inIt());
    expect(listed).toContain(`EDITOR    ${key.secretHint}`);
    expect(listed).not.toContain(key.secretKey);
    expect(JSON.stringify(await answer('key', 'list', ...inIt()))).not.toMatch(/phk_\w{38}|secretHash/);
  });

  it('deletes a key for good, and is named in the audit log', async () => {
    const key = await answer('key', 'create', ...inIt(), '--name', 'Old');
    expect(await told('key', 'delete', ...inIt(), '--key', key.id)).toBe(`Deleted ${key.id} (Old).\n`);
    const again = await posthorn('key', 'delete', ...inIt(), '--key', key.id);
    expectRefusal(again, 'There is no API key with this id in this workspace');
    const actor = { kind: 'operator', name: userInfo().username };
    expect(await audited('api_key.deleted')).toMatchObject([{ actor, subjectId: key.id }]);
  });

  it('marks domains and addresses as verified', async () => {
    const added = await told('identity', 'create', ...inIt(), '--address', 'Ada@Example.ORG');
    expect(added).toContain('--address Ada@example.org --verified');
    const domain = await answer('identity', 'create', ...inIt(), '--domain', 'EXAMPLE.com', '--verified');
    expect(domain).toMatchObject({ kind: 'domain', value: 'example.com', verifiedAt: expect.any(String) });
    expect(await told('identity', 'list', ...inIt())).toMatch(
      /address {2}Ada@example\.org +no\n.* {2}domain +example\.com +\d{4}-/,
    );
    const byOperator = new RegExp(`identity\\.(created|verified) +operator ${userInfo().username} `, 'g');
    expect((await told('audit', 'list', ...inIt())).match(byOperator)).toHaveLength(3);
  });

  it('changes the encryption key', async () => {
    expect(await answer('secrets', 'rotate')).toEqual({ key: 'test', sealedAnew: 0 });
    // Names the key: a command line that was started before the list was changed has another one first than the apps have.
    expect(await told('secrets', 'rotate')).toMatch(
      /^Every secret is already encrypted with the key “test”\. If/,
    );
  });

  it('lists workspaces on lines of 80 columns, and their own limits below', async () => {
    const { id } = await answer(
      'workspace',
      'create',
      '--name',
      'x'.repeat(100),
      '--monthly-limit',
      '1000000000',
    );
    await told('workspace', 'limit', '--workspace', id, '--rate', '5', '--burst', '0');
    const lines = (await told('workspace', 'list')).split('\n');
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
    const at = lines.findIndex((line) => line.startsWith(id));
    expect(lines[at]).toMatch(/ x{23}… +1000000000 +\d{4}-\d\d-\d\d$/);
    expect(lines.slice(at + 1, at + 3)).toEqual(['  requests a second: 5', '  requests at once: none']);
    await told('workspace', 'delete', '--workspace', id, '--name', 'x'.repeat(100));
  });

  it('hastens retries, and sees what came of it', async () => {
    expect(await told('hasten', '--everything')).toBe(
      'Retries of emails: none waited for a later time.\nRetries of deliveries to webhooks: none waited for a later time.\n',
    );
    const webhook = 'wh_01h2xcejqtf2nbrexx3vqjhp41';
    await database.pool.query(
      `WITH row AS (SELECT id, state FROM unnest($2::uuid[], ARRAY['waiting', 'waiting', 'ready', 'taken']::outbox_state[]) AS t (id, state)),
            one AS (INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, attempts, lease_until)
                    SELECT id, 'webhook', $1, state, now() + interval '1 hour', 1, CASE state WHEN 'taken' THEN now() + interval '1 minute' END FROM row RETURNING subject_id)
       INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id)
       SELECT id, id, id, id FROM row`,
      [webhook, Array.from({ length: 4 }, () => newUuid(Date.now()))],
    );
    await told('pause', '--webhooks', '--reason', 'A receiver moves');
    expect(await told('hasten', '--webhooks')).toBe(
      `Retries of deliveries to webhooks: 2 are due now.
2 of them are paused, and wait until they are resumed: status
1 more were due already.
1 more are in progress at this moment, and were left alone.
`,
    );
    await told('resume', '--webhooks');
    expect(await answer('hasten', '--webhooks')).toEqual([
      { whose: 'webhooks', hastened: 0, paused: 0, alreadyDue: 3, inProgress: 1 },
    ]);
    expect(await posthorn('hasten', '--lane', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--lane is none in which anything is retried'),
    });
    expect(await posthorn('hasten', '--emails', '--class', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--class must be one of unknown_user, '),
    });
    await database.pool.query('DELETE FROM outbox');
  });

  it('pauses, sees why, and resumes', async () => {
    expect(await told('pause', '--emails', '--reason', 'The relay moves')).toBe(
      'Email sending is paused: The relay moves\nResume: resume --emails\n',
    );
    await answer('pause', ...inIt(), '--reason', 'Looks like spam');
    expect(await told('pause', 'list')).toMatch(/^emails .* The relay moves\n.*Looks like spam$/m);
    expect(await told('resume', ...inIt())).toContain('But all emails are still paused');
    expect(await answer('resume', '--emails')).toEqual({
      whose: 'emails',
      wasPaused: true,
      allEmailsArePaused: false,
    });
    expect(await told('status')).toMatch(/^Nothing is paused\.\n/);
  });

  it('pauses everything, and sees which pauses end with it', async () => {
    await told('pause', '--webhooks', '--reason', 'A receiver moves');
    expect(await told('pause', '--everything', '--reason', 'An incident')).toMatch(
      /^Email sending is paused: An incident\nWebhook delivery has been paused since .* kept: A receiver moves\nResume: resume --everything\n$/,
    );
    expect(await told('resume')).toMatch(
      /^Webhook delivery is resumed\. .*: A receiver moves\nEmail sending is resumed\. .*: An incident\n$/,
    );
    expect(await told('status')).toMatch(/^Nothing is paused\.\n/);
  });

  it('resumes neither emails nor webhooks with the other', async () => {
    await told('pause', '--everything', '--reason', 'An incident');
    expect(await told('resume', '--webhooks')).toBe('Webhook delivery is resumed.\n');
    expect(await told('pause', 'list')).toMatch(/^emails /m);
    expect(await told('resume', '--emails')).toBe('Email sending is resumed.\n');
  });

  it('sees which workspaces are still paused when everything is resumed', async () => {
    await told('pause', ...inIt(), '--reason', 'Looks like spam');
    expect(await told('resume')).toBe(
      `Nothing was paused as a whole.\nWorkspace ${workspaceId} is still paused: resume --workspace ${workspaceId}\n`,
    );
    expect(await told('resume', ...inIt())).toBe(`Workspace ${workspaceId} is resumed.\n`);
  });

  it('gives up what waits in a paused workspace, such as an unwanted campaign, before resuming it', async () => {
    const failBefore = ['--fail-before', '2026-01-01T00:00:00Z'];
    expectRefusal(await posthorn('resume', ...inIt(), ...failBefore), 'are not paused, so they may leave');
    await told('pause', ...inIt(), '--reason', 'Looks like spam');
    const later = await posthorn('resume', ...inIt(), '--fail-before', '2999-01-01T00:00:00Z');
    expectRefusal(later, '--fail-before is in the future', 2);
    expect(await answer('resume', ...inIt(), ...failBefore)).toEqual({
      whose: workspaceId,
      wasPaused: true,
      allEmailsArePaused: false,
      failed: 0,
    });
  });

  it('pauses the delivery of events to webhooks', async () => {
    await told('pause', '--webhooks', '--reason', 'Their network moves');
    expect(await told('status')).toMatch(/^webhooks .* Their network moves$/m);
    expect(await told('resume', '--webhooks')).toBe('Webhook delivery is resumed.\n');
  });

  it('pauses everything after restoring a snapshot, sees what was due, and resumes it', async () => {
    expect(await told('restored')).toMatch(
      /^emails .* The database was restored\nwebhooks .*\n\nWhat was due/m,
    );
    const status = await told('status');
    expect(status).toMatch(/^QUEUE +DUE AT THE BACKUP +DUE SINCE +DUE LATER\nemail +0 /m);
    expect(status).toContain('Give that up: resume --fail-before TIME');
    expectRefusal(
      await posthorn('resume', '--fail-before', '2999-01-01T00:00:00Z'),
      '--fail-before is in the future',
      2,
    );
    expect(await answer('resume', '--fail-before', '2026-01-01T00:00:00Z')).toMatchObject({
      wasRestored: true,
    });
    expect(await told('status')).toMatch(/^Nothing is paused\.\n/);
  });
});

describe('An operator with an impossible request', () => {
  it.each([
    ['an id of nothing', () => ['pause', '--workspace', 'shop', '--reason', 'x'], '"shop" is not the id'],
    [
      'a name too long',
      () => ['workspace', 'create', '--name', 'x'.repeat(101)],
      '--name has 101 characters',
    ],
    [
      'a limit that is none',
      () => ['workspace', 'create', '--name', 'x', '--monthly-limit', '1e3'],
      '--monthly-limit must be a whole number',
    ],
    [
      'a role that is none',
      () => ['key', 'create', ...inIt(), '--name', 'x', '--role', 'ADMIN'],
      '--role must be one of VIEWER, API_USER, EDITOR',
    ],
    [
      'a URL for a domain',
      () => ['identity', 'create', ...inIt(), '--domain', 'https://example.com'],
      '--domain is more than a domain; give its name alone, such as example.com',
    ],
    [
      'an unknown role of an operator',
      () => ['operator', 'create', '--name', 'grace', '--role', 'king'],
      '--role must be one of viewer, operator',
    ],
  ])('gets an error of one line about wrong usage: %s', async (_case, args, words) => {
    expectRefusal(await posthorn(...args()), words, 2);
  });

  it('gets an error of one line about a workspace that does not exist', async () => {
    expectRefusal(await posthorn('key', 'list', '--workspace', UNKNOWN), 'There is no workspace');
  });

  it('can create a hundred keys in a workspace, and must delete one before the next', async () => {
    const apiKeys = new ApiKeyStore(database);
    const { id } = await answer('workspace', 'create', '--name', 'Many keys');
    for (let n = 0; n < 100; n += 1)
      await createApiKey(apiKeys, id, operator('test'), { displayName: `Key ${n}` });
    const refused = await posthorn('key', 'create', '--workspace', id, '--name', 'One more');
    expectRefusal(refused, 'has 100 keys, the maximum; delete one first');
    expect(await apiKeys.list(id)).toHaveLength(100);
  });

  it('can interrupt a command', async () => {
    const silent = createServer();
    const port = await listenOnLoopback(silent);
    const program = await ProgramUnderTest.start('tools/posthorn.mjs', {
      args: ['workspace', 'list'],
      env: { DATABASE_URL: `postgresql://ada@127.0.0.1:${port}/posthorn` },
    });
    const [socket] = (await once(silent, 'connection')) as [Socket];
    program.kill('SIGINT');
    expect(await program.exit).toEqual({ code: 130, signal: null });
    socket.destroy();
    silent.close();
  });

  it('gets a different exit code for wrong usage', async () => {
    const { code, stdout, stderr } = await runOperatorCommand(testDatabase.url, 'workspce', 'list');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe('posthorn: There is no command "workspce list"; did you mean `workspace list`?\n');
  });
});

describe('An operator whose database cannot be used', () => {
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(testDatabase.url);
    change(url);
    return url.href;
  };

  it.each([
    ['away', () => changed((url) => (url.port = '1')), 'No database answers at 127.0.0.1:1/test_'],
    ['empty', testPostgresUrl, 'run npm run migrate'],
    [
      'closed to this login',
      () => changed((url) => (url.password = 'wrong')),
      'correct the name and password',
    ],
    ['not there', () => changed((url) => (url.pathname = '/nowhere')), 'no database of this name'],
    ...['verify-full', 'require'].map(
      (mode) =>
        [
          `without TLS, and sslmode is ${mode}`,
          () => changed((url) => (url.search = `sslmode=${mode}`)),
          'write sslmode=disable',
        ] as const,
    ),
    [
      'asked for with a certificate that is missing',
      () => changed((url) => (url.search = 'sslcert=/nowhere.crt')),
      'A file that DATABASE_URL names',
    ],
    ['of another kind', () => 'mysql://ada:wrong@db/x', 'begins with postgresql:// or postgres://'],
  ])('gets advice, without the password, when it is %s', async (_case, url, words) => {
    const ended = await runOperatorCommand(url(), 'workspace', 'list');
    expectRefusal(ended, words);
    expect(ended.stderr).not.toContain(new URL(url()).password);
  });
});

function expectRefusal({ code, stdout, stderr }: EndedProgram, words: string, exitCode = 1): void {
  expect(stderr).toContain(words);
  expect(stderr).toMatch(/^posthorn: .+\n$/);
  expect([code, stdout]).toEqual([exitCode, '']);
}
