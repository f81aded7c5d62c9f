import { describe, it } from '@jest/globals';
import { IdentityStore } from '@posthorn/database';
import { POSTHORN } from '@posthorn/domain';
import { addIdentity } from '@posthorn/use-cases/operate';
import { casesOf, type Fault, inBatch, inRawEmail, texts } from './cases.ts';
import { INVALID_MAILBOXES } from './faults/mailboxes.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile(async ({ database, tenant: { workspaceId } }) => {
  const identities = new IdentityStore(database);
  await addIdentity(identities, workspaceId, POSTHORN, { address: 'known@partner.example', verified: true });
  await addIdentity(identities, workspaceId, POSTHORN, { domain: 'unproven.example', verified: false });
});

describe('S4: invalid mailboxes', () => {
  const places = [
    inRawEmail('to'),
    inRawEmail('from'),
    inRawEmail('replyTo'),
    inRawEmail('replyTo[1]', (value) => ['a@example.com', value]),
    inBatch(inRawEmail('to')),
    inBatch(inRawEmail('from')),
  ];
  it.each(titled(casesOf(INVALID_MAILBOXES, places)))('%s', (_title, bad) => refusing.refuses(bad));
});

describe('S4: several mailboxes where one is allowed', () => {
  const several: Fault[] = [
    { what: 'an array of one', value: ['a@example.com'] },
    { what: 'an array of two', value: ['a@example.com', 'b@example.com'] },
    { what: 'an empty array', value: [] },
    { what: 'an object as libraries have it', value: { name: 'A', address: 'a@example.com' } },
  ];
  const cases = casesOf(several, [inRawEmail('to'), inRawEmail('from')]);
  it.each(titled(cases))('%s', (_title, bad) => refusing.refuses(bad));
});

describe('S7: the number of Reply-To addresses', () => {
  const amounts: Fault[] = [
    { what: 'none', value: [], says: '`replyTo` is empty; give 1 to 5' },
    { what: 'six', value: Array(6).fill('a@example.com'), says: '`replyTo` has 6 items, 1 more than the 5' },
    { what: 'a thousand', value: Array(1_000).fill('a'), says: '995 more than the 5' },
    { what: 'null among them', value: ['a@example.com', null], says: '`replyTo[1]` is null' },
  ];
  it.each(titled(casesOf(amounts, [inRawEmail('replyTo')])))('%s', (_title, bad) => refusing.refuses(bad));
});

describe('S6, X1: a sender that is not verified', () => {
  const unverified = [
    ...texts('a@other.example', 'a@mail.example.com', 'a@example.com.evil.example', 'a@notexample.com'),
    ...texts('a@unproven.example', 'other@partner.example', 'KNOWN@partner.example', 'a@example.org'),
    ...texts(
      'a@example.co',
      'A <a@other.example>',
      'a@ex\u0430mple.com',
      '"known@partner.example" <a@other.example>',
    ),
    ...texts('known+tag@partner.example', 'known@partner.example.example.org', 'a@xample.com'),
  ].map((fault) => ({ ...fault, says: 'neither a verified address nor on a verified domain' }));
  it.each(titled(casesOf(unverified, [inRawEmail('from'), inBatch(inRawEmail('from'))])))(
    '%s',
    (_title, bad) => refusing.refuses(bad),
  );
});
