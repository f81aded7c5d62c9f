import { expect, it } from '@jest/globals';
import { recordFinding } from './record-finding.ts';
import { expectedRecords } from './expected-records.ts';

const [spf] = expectedRecords('example.com', [], undefined);

it('A finding shows records unchanged', () => {
  expect(recordFinding(spf!, { kind: 'found', values: ['v=spf1 -all', 'grüß dich'] })).toMatchObject({
    state: 'FOUND',
    found: ['v=spf1 -all', 'grüß dich'],
  });
  expect(recordFinding(spf!, { kind: 'absent' })).toMatchObject({ state: 'MISSING', found: [] });
});

it('A finding limits the records and replaces characters that the database refuses', () => {
  const values = [`\0\u001b[31m\ud800${'x'.repeat(70_000)}`, ...Array<string>(50).fill('y')];
  const { found } = recordFinding(spf!, { kind: 'found', values });
  expect(found).toHaveLength(10);
  expect(found[0]).toMatch(/^\ufffd\ufffd\[31m\ufffdx+…$/);
  expect(found[0]!.length).toBeLessThan(1_010);
});
