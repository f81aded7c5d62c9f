import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  DkimKeyChanges,
  DomainCheckStore,
  DomainNoticeStore,
  IdentityChanges,
  IdentityStore,
  type IdentityWithRecords,
  sealContextOf,
  SEALED_COLUMNS,
  WorkspaceStore,
} from '@posthorn/database';
import { DnsResolver } from '@posthorn/dns';
import { POSTHORN, type ProofChange, expectedRecords } from '@posthorn/domain';
import { newId, newUuid, uuidOf } from '@posthorn/kernel';
import { parseKeyRing, SecretBox } from '@posthorn/signing';
import { type DnsBehaviour, DnsServer } from '@posthorn/testing';
import { CheckDomain } from './check-domain.ts';
import { CheckDueDomains } from './check-due-domains.ts';
import { DkimKeyMaker } from './dkim-key-maker.ts';
import { domainNoticeMail } from './domain-notice-mail.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const HOUR_MS = 3_600_000;
/** Longer than any answer takes, even on a busy machine. */
const PATIENT_MS = 20_000;
/** The timeout for questions that are never answered. */
const HASTY_MS = 300;
/** Makes any domain due since its last check: our estimate of the database's time may differ by some ms. */
const CLAIM = { leaseSeconds: 120, restSeconds: -60 };

const database = await openTestDatabase();
const { id: workspaceId } = await new WorkspaceStore(database).create(POSTHORN, 'Acme', null);
const dns = await DnsServer.start();
/** How far the clock of the checks is ahead. */
let aheadMs = 0;
let lookUpMs = PATIENT_MS;
let domains = 0;
const told: ProofChange[] = [];

afterAll(() => dns.close());

function newSecretBox(): SecretBox {
  const parsed = parseKeyRing(`test:${randomBytes(32).toString('base64')}`);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return new SecretBox(parsed.ring);
}

async function addEditor(email: string): Promise<void> {
  const [userId, createdAt] = [newUuid(Date.now()), new Date()];
  await database.prisma.user.create({ data: { id: userId, email, name: 'Ada', createdAt } });
  await database.prisma.membership.create({
    data: { id: newUuid(Date.now()), workspaceId: uuidOf(workspaceId), userId, role: 'EDITOR', createdAt },
  });
}

const secretBox = newSecretBox();
const checks = (): DomainCheckStore => new DomainCheckStore(database);
const find = async ({ id }: IdentityWithRecords): Promise<IdentityWithRecords> =>
  (await new IdentityStore(database).find(workspaceId, id))!;

function newCheckDomain(): CheckDomain {
  return new CheckDomain({
    checks: checks(),
    resolver: new DnsResolver({ servers: [dns.address], timeoutMs: lookUpMs }),
    spfInclude: undefined,
    clock: { nowMs: () => database.clock.nowMs() + aheadMs },
    onChange: (change) => void told.push(change),
  });
}

async function addDomain(): Promise<IdentityWithRecords> {
  const id = newId('idn', database.clock.nowMs());
  const keys = await new DkimKeyMaker({ secretBox, clock: database.clock }).make(workspaceId, id);
  const domain = `check${(domains += 1)}.example`;
  await new IdentityChanges(database).addDomain(workspaceId, POSTHORN, { id, domain, keys });
  told.length = 0;
  aheadMs = 0;
  lookUpMs = PATIENT_MS;
  return (await new IdentityStore(database).find(workspaceId, id))!;
}

/** Sets how questions about the required record are answered from now on; `right`: with the required record. */
function answer({ value, keys }: IdentityWithRecords, behaviour: DnsBehaviour | 'right'): void {
  const wanted = expectedRecords(value, keys, undefined).find(({ isRequired }) => isRequired)!;
  dns.set(wanted.name, behaviour === 'right' ? { txt: [wanted.value!.match(/.{1,255}/g)!] } : behaviour);
}

/** Checks a domain, a number of hours after the first check. */
async function look(domain: IdentityWithRecords, hours = 0): Promise<IdentityWithRecords> {
  aheadMs = hours * HOUR_MS;
  const claimed = await checks().claim(workspaceId, domain.id, CLAIM);
  expect(await newCheckDomain().check(claimed!, POSTHORN)).toBe(true);
  return find(domain);
}

async function addVerified(): Promise<IdentityWithRecords> {
  const domain = await addDomain();
  answer(domain, 'right');
  expect(await look(domain)).toMatchObject({ status: 'VERIFIED', verifiedAt: expect.any(Date) });
  return domain;
}

/** Null: there is none. */
async function minutesToNextCheck({ id }: IdentityWithRecords): Promise<number | null> {
  const { rows } = await database.pool.query<{ minutes: number | null }>(
    'SELECT extract(epoch FROM due_at - now())::float / 60 AS minutes FROM domain_checks WHERE identity_id = $1',
    [uuidOf(id)],
  );
  return rows[0]!.minutes;
}

describe('A verified domain', () => {
  it.each([
    ['time-outs', 'silent', HASTY_MS],
    ['SERVFAIL', { rcode: 'SERVFAIL' }, PATIENT_MS],
    ['refusals', { rcode: 'REFUSED' }, PATIENT_MS],
    ['garbage', 'garbage', HASTY_MS],
  ] as const)('survives a week of %s', async (_, behaviour, timeoutMs) => {
    const domain = await addVerified();
    answer(domain, behaviour);
    lookUpMs = timeoutMs;
    for (const hours of [1, 24, 72, 168]) {
      expect(await look(domain, hours)).toMatchObject({ status: 'VERIFIED', check: { wrongSince: null } });
    }
    expect(told).toEqual(['verified']);
  });

  it('survives one NXDOMAIN, and a right answer ends the run', async () => {
    const domain = await addVerified();
    answer(domain, { rcode: 'NXDOMAIN' });
    expect(await look(domain, 6)).toMatchObject({ status: 'VERIFIED', check: { wrongAnswers: 1 } });
    answer(domain, 'right');
    expect(await look(domain, 7)).toMatchObject({ check: { wrongAnswers: 0, wrongSince: null } });
    expect(told).toEqual(['verified']);
  });

  it('is at risk after a day of NXDOMAIN, un-verified after three, and verified by the record again', async () => {
    const domain = await addVerified();
    const { verifiedAt } = await find(domain);
    answer(domain, { rcode: 'NXDOMAIN' });
    for (const hours of [0, 12, 23]) expect((await look(domain, hours)).status).toBe('VERIFIED');
    expect(await look(domain, 24.1)).toMatchObject({ status: 'AT_RISK', verifiedAt });
    answer(domain, { txt: ['v=DKIM1; k=rsa; p='] });
    for (const hours of [48, 71]) expect((await look(domain, hours)).status).toBe('AT_RISK');
    expect(await look(domain, 72.1)).toMatchObject({ status: 'UNVERIFIED', verifiedAt: null });
    expect(told).toEqual(['verified', 'warned', 'unverified']);

    answer(domain, 'right');
    expect((await look(domain, 80)).status).toBe('VERIFIED');
  });
});

it('A domain that loses its verification has its workspace’s editors notified twice, with what was found of its record', async () => {
  const domain = await addVerified();
  await addEditor('ada@example.net');
  const { name, value } = expectedRecords(domain.value, domain.keys, undefined)[0]!;
  const mails = async (): Promise<[string, string, string][]> => {
    const notices = await new DomainNoticeStore(database).pending(null, 100);
    return notices
      .filter((notice) => notice.domain.id === domain.id)
      .flatMap((notice) => notice.editors.map((editor) => domainNoticeMail(notice, editor)))
      .map(({ to, subject, text }) => [to, subject, text]);
  };
  answer(domain, { rcode: 'NXDOMAIN' });
  for (const hours of [0, 12, 24.1]) await look(domain, hours);
  const [atRisk, ...others] = await mails();
  expect(others).toEqual([]);
  expect(atRisk).toEqual([
    'ada@example.net',
    `A domain will lose its verification: ${domain.value}`,
    expect.stringContaining(`${name} (TXT): There is no TXT record at this name`),
  ]);
  expect(atRisk![2]).toContain(`\n\nValue: ${value}\n\n`);
  for (const hours of [36, 48, 72.1]) await look(domain, hours);
  const unverified = [
    'ada@example.net',
    `A domain is no longer verified: ${domain.value}`,
    expect.stringContaining(`${domain.id}) is one of the workspace “Acme”`),
  ];
  expect(await mails()).toEqual(expect.arrayContaining([unverified]));
  answer(domain, 'right');
  await look(domain, 80);
  expect(await mails()).toHaveLength(2);
});

describe('The result of a check', () => {
  it('is not recorded when there was a later check, or the domain was deleted meanwhile', async () => {
    const domain = await addVerified();
    answer(domain, { rcode: 'NXDOMAIN' });
    const early = (await checks().claim(workspaceId, domain.id, CLAIM))!;
    const before = await look(domain);
    expect(await newCheckDomain().check(early, POSTHORN)).toBe(false);
    expect(await find(domain)).toEqual(before);

    const late = (await checks().claim(workspaceId, domain.id, CLAIM))!;
    await new IdentityChanges(database).delete(workspaceId, POSTHORN, domain.id);
    expect(await newCheckDomain().check(late, POSTHORN)).toBe(false);
  });

  it('is recorded and reported once by concurrent checks with the same claim', async () => {
    const domain = await addDomain();
    answer(domain, 'right');
    const claimed = (await checks().claim(workspaceId, domain.id, CLAIM))!;
    const looks = await Promise.all([1, 2].map(() => newCheckDomain().check(claimed, POSTHORN)));
    expect(looks.sort()).toEqual([false, true]);
    expect(told).toEqual(['verified']);
    const lines = await database.pool.query(
      `SELECT FROM audit_log WHERE action = 'identity.verified' AND subject_id = $1`,
      [domain.id],
    );
    expect(lines.rowCount).toBe(1);
  });

  it('does not un-verify a domain that an operator has verified meanwhile', async () => {
    const domain = await addDomain();
    const claimed = (await checks().claim(workspaceId, domain.id, CLAIM))!;
    await new IdentityStore(database).put(workspaceId, POSTHORN, {
      kind: 'domain',
      value: domain.value,
      verified: true,
    });
    expect(await newCheckDomain().check(claimed, POSTHORN)).toBe(false);
    expect(await find(domain)).toMatchObject({ status: 'VERIFIED', isVouched: true });
  });

  it('is checked again after six hours, and as soon as a new one while a rotation waits for records', async () => {
    const domain = await addVerified();
    expect(await minutesToNextCheck(domain)).toBeGreaterThan(6 * 60 - 5);
    const made = await new DkimKeyMaker({ secretBox, clock: database.clock }).make(workspaceId, domain.id);
    await new DkimKeyChanges(database).rotateKeys(workspaceId, POSTHORN, domain.id, made);
    expect(await minutesToNextCheck(await look(domain))).toBeLessThan(60);
  });

  it('is not recorded when the keys of the domain were changed meanwhile, which happens once for concurrent requests', async () => {
    const domain = await addVerified();
    const early = (await checks().claim(workspaceId, domain.id, CLAIM))!;
    const maker = new DkimKeyMaker({ secretBox, clock: database.clock });
    const rotate = async (): Promise<string | undefined> => {
      const made = await maker.make(workspaceId, newId('idn', database.clock.nowMs()));
      return (await new DkimKeyChanges(database).rotateKeys(workspaceId, POSTHORN, domain.id, made))?.kind;
    };
    expect((await Promise.all([rotate(), rotate()])).sort()).toEqual(['begin', 'under_way']);
    expect(await newCheckDomain().check(early, POSTHORN)).toBe(false);
    const stages = (await find(domain)).keys.map(({ algorithm, stage }) => `${algorithm} ${stage}`);
    expect(stages).toEqual(['rsa CURRENT', 'ed25519 CURRENT', 'rsa NEXT']);
  });

  it('is recorded although the DNS record contains characters that the database refuses', async () => {
    const domain = await addVerified();
    for (const record of ['v=DKIM1; k=\0rsa; p=x', 'v=\0DKIM1; p=x']) {
      answer(domain, { txt: [record] });
      expect(await look(domain)).toMatchObject({ check: { findings: expect.any(Object) } });
    }
    expect(await find(domain)).toMatchObject({ check: { wrongAnswers: 2 } });
  });

  it('belongs to one workspace only', async () => {
    const domain = await addDomain();
    const other = (await new WorkspaceStore(database).create(POSTHORN, 'Other', null)).id;
    expect(await checks().claim(other, domain.id, CLAIM)).toBeUndefined();
  });
});

it('New keys are not looked for until their records may be there, so that no name server remembers that there were none', async () => {
  const domain = await addDomain();
  expect(await minutesToNextCheck(domain)).toBeGreaterThan(9);
  answer(domain, 'right');
  await look(domain);
  const made = await new DkimKeyMaker({ secretBox, clock: database.clock }).make(workspaceId, domain.id);
  await new DkimKeyChanges(database).rotateKeys(workspaceId, POSTHORN, domain.id, made);
  const minutes = await minutesToNextCheck(domain);
  expect(minutes).toBeGreaterThan(9);
  expect(minutes).toBeLessThan(11);
});

it('A domain whose record was not found for four weeks is not checked again by itself', async () => {
  const domain = await addDomain();
  await database.pool.query('UPDATE domain_checks SET due_at = NULL');
  await database.pool.query('UPDATE domain_checks SET due_at = now(), rounds = 66 WHERE identity_id = $1', [
    uuidOf(domain.id),
  ]);
  const [claimed] = await checks().claimDue(1, 120);
  expect(await newCheckDomain().check(claimed!, POSTHORN)).toBe(true);
  expect(await minutesToNextCheck(domain)).toBeNull();
});

describe('Two schedulers', () => {
  it('check each due domain once', async () => {
    await database.pool.query('UPDATE domain_checks SET due_at = NULL');
    const added = await Promise.all([1, 2, 3].map(addDomain));
    for (const domain of added) answer(domain, 'right');
    await makeDue();
    const options = { checks: checks(), checkDomain: newCheckDomain(), onError: raise };
    const looked = await Promise.all([1, 2].map(() => new CheckDueDomains(options).run(5_000)));
    expect(looked[0]! + looked[1]!).toBe(3);
    for (const domain of added) expect((await find(domain)).status).toBe('VERIFIED');
    expect(told).toEqual(['verified', 'verified', 'verified']);
  });

  it('check a domain again whose scheduler died, once its claim has ended', async () => {
    await database.pool.query('UPDATE domain_checks SET due_at = NULL');
    const domain = await addDomain();
    await makeDue();
    expect(await checks().claimDue(10, 0)).toHaveLength(1);
    const [again] = await checks().claimDue(10, 120);
    expect(again).toMatchObject({ id: domain.id, check: { claims: 2 } });
    expect(await checks().claimDue(10, 120)).toEqual([]);
  });
});

describe('The private keys of a domain', () => {
  it('can be decrypted only with the key ring, each in its own context', async () => {
    const domain = await addDomain();
    const { rows } = await database.pool.query<{ id: string; sealed: Buffer }>(
      `SELECT k.id, private_key AS sealed FROM dkim_keys k JOIN identities i ON i.id = identity_id
       WHERE value = $1 ORDER BY algorithm`,
      [domain.value],
    );
    const [rsa, ed25519] = rows as [(typeof rows)[0], (typeof rows)[0]];
    const context = (id: string): string => sealContextOf(SEALED_COLUMNS.dkimPrivateKey, id);
    // PKCS #8 begins with a sequence, and the version 0.
    expect(secretBox.open(rsa.sealed, context(rsa.id)).subarray(4, 7).toString('hex')).toBe('020100');
    expect(secretBox.open(ed25519.sealed, context(ed25519.id)).subarray(2, 5).toString('hex')).toBe('020100');
    expect(() => secretBox.open(rsa.sealed, context(ed25519.id))).toThrow();
    expect(() => newSecretBox().open(rsa.sealed, context(rsa.id))).toThrow();
  });
});

async function makeDue(): Promise<void> {
  await database.pool.query('UPDATE domain_checks SET due_at = now() WHERE due_at IS NOT NULL');
}

function raise(error: Error): void {
  throw error;
}
