import { describe, expect, it } from '@jest/globals';
import { addressPatternInNames, addressPattern, addressSpellings } from '@posthorn/domain';
import { ERASURE_RULES } from './erasure-rules.ts';
import { openTestStores } from '../open-test-stores.fixture.ts';

const stores = await openTestStores(2);

describe('The rules of erasure', () => {
  it('exist for every table of the database, and for no other', async () => {
    const tables = await stores.ask<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE  relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> '_prisma_migrations'`,
    );
    expect(Object.keys(ERASURE_RULES).toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  });
});

describe('A redacted text', () => {
  it.each([
    ['to ada@example.com', 'to [erased]'],
    ['Is it Ada@Example.COM?', 'Is it [erased]?'],
    ['It is ada@example.com.', 'It is [erased].'],
    ['<a href="mailto:ada@example.com">ada@example.com</a>', '<a href="mailto:[erased]">[erased]</a>'],
    ['https://x.example/?to=ada%40example.com&b', 'https://x.example/?to=[erased]&b'],
    ['550 <ada@example.com>: unknown', '550 <[erased]>: unknown'],
    ['bada@example.com', 'bada@example.com'],
    ['x+ada@example.com', 'x+ada@example.com'],
    ['ada@example.com.au', 'ada@example.com.au'],
    ['adaxexample.com', 'adaxexample.com'],
    [JSON.stringify('x\nada@example.com\n+49'), String.raw`"x\n[erased]\n+49"`],
    [JSON.stringify('x\tada@example.com\tx'), String.raw`"x\t[erased]\tx"`],
    [JSON.stringify('x\rada@example.com\rx'), String.raw`"x\r[erased]\rx"`],
    [JSON.stringify('x\bada@example.com\bx'), String.raw`"x\b[erased]\bx"`],
    [JSON.stringify('x\fada@example.com\fx'), String.raw`"x\f[erased]\fx"`],
    [String.raw`\u003cada@example.com\u003e`, String.raw`\u003c[erased]\u003e`],
    [String.raw`\u003CAda@example.com\u003E`, String.raw`\u003C[erased]\u003E`],
    ['%3Cada%40example.com%3E', '%3C[erased]%3E'],
    ['mailto%3Aada%40example.com%3Fx', 'mailto%3A[erased]%3Fx'],
    ['%20ada@example.com%20ada@example.com', '%20[erased]%20[erased]'],
    ['x%2Bada%40example.com', 'x%2Bada%40example.com'],
    ['https://x.example/?q=to+ada%40example.com', 'https://x.example/?q=to+[erased]'],
    [String.raw`\u0062ada@example.com`, String.raw`\u0062ada@example.com`],
    [String.raw`\nbada@example.com`, String.raw`\nbada@example.com`],
    ['{"filename":"ada@example.com.txt"}', '{"filename":"[erased].txt"}'],
    ['{"filename": "of \\"ada@example.com\\"_1.txt"}', '{"filename": "of \\"[erased]\\"_1.txt"}'],
    ['{"filename":"bada@example.com.txt"}', '{"filename":"bada@example.com.txt"}'],
    ['{"filename":"x","html":"ada@example.com.au"}', '{"filename":"x","html":"ada@example.com.au"}'],
    ['{"groupBy":"of-ada@example.com"}', '{"groupBy":"of-[erased]"}'],
    ['{"groupBy":"of-ada@example.com.au"}', '{"groupBy":"of-ada@example.com.au"}'],
    ['{"subject":"of-ada@example.com"}', '{"subject":"of-ada@example.com"}'],
  ])('made of %s is %s', async (text, expected) => {
    const spellings = addressSpellings('ada@example.com');
    const [row] = await stores.ask('SELECT without_person($1, $2::text[], $3) AS text', [
      text,
      spellings,
      addressPattern(spellings),
    ]);
    expect(row).toEqual({ text: expected });
  });

  it.each([
    ['welcome-ada@example.com', true],
    ['to%3Aada%40example.com', true],
    [String.raw`x\nada@example.com`, true],
    ['order_ada@example.com_7', true],
    ['digest-ada@example.com-2026-11-30', true],
    ['of-bada@example.com', false],
    ['of-ada@example.com.au', false],
    ['of-ada@example.com-shop.example', false],
  ])('in the name %s that a caller composed is found: %s', async (name, isNamed) => {
    const spellings = addressSpellings('ada@example.com');
    const [row] = await stores.ask('SELECT names_person($1, $2::text[], $3) AS "isNamed"', [
      name,
      spellings,
      addressPatternInNames(spellings),
    ]);
    expect(row).toEqual({ isNamed });
  });

  it.each([
    '"a\\"b c"@example.com',
    "o'hara@example.com",
    'a*b{1}$^|@example.com',
    'jürgen@xn--mller-kva.example',
    'JÜRGEN@xn--mller-kva.example',
    // Postgres lowers or matches these letters in another way than JavaScript.
    'ΝΙΚΟΣ@example.com',
    'İpek@example.com',
    'STRAẞE@example.com',
  ])('is found whatever characters %s has', async (address) => {
    const spellings = addressSpellings(address);
    const [row] = await stores.ask('SELECT without_person($1, $2::text[], $3) AS text', [
      JSON.stringify({ to: address }),
      spellings,
      addressPattern(spellings),
    ]);
    expect(row).toEqual({ text: '{"to":"[erased]"}' });
  });
});
