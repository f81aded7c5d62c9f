import { expect, it } from '@jest/globals';
import { expectedRecords } from './expected-records.ts';
import { type RecordFinding, recordFinding } from './record-finding.ts';
import type { TxtAnswer } from './txt-answer.ts';

const [spf] = expectedRecords('example.com', [], undefined);
const finding = (answer: TxtAnswer): RecordFinding => recordFinding(spf!, { name: spf!.name, answer });

it('A finding shows records unchanged', () => {
  expect(finding({ kind: 'found', values: ['v=spf1 -all', 'grüß dich'] })).toMatchObject({
    state: 'FOUND',
    found: ['v=spf1 -all', 'grüß dich'],
  });
  expect(finding({ kind: 'absent' })).toMatchObject({ state: 'MISSING', found: [] });
});

it('A finding limits the records and replaces characters that the database refuses', () => {
  const values = [`\0\u001b[31m\ud800${'x'.repeat(70_000)}`, ...Array<string>(50).fill('y')];
  const { found } = finding({ kind: 'found', values });
  expect(found).toHaveLength(10);
  expect(found[0]).toMatch(/^\ufffd\ufffd\[31m\ufffdx+…$/);
  expect(found[0]!.length).toBeLessThan(1_010);
});
