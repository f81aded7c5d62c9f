import { expect, it } from '@jest/globals';
import { recordFinding } from './record-finding.ts';
import { wantedRecords } from './wanted-records.ts';

const [spf] = wantedRecords('example.com', [], undefined);

it('What was found is shown as it is', () => {
  expect(recordFinding(spf!, { kind: 'found', values: ['v=spf1 -all', 'grüß dich'] })).toMatchObject({
    state: 'FOUND',
    found: ['v=spf1 -all', 'grüß dich'],
  });
  expect(recordFinding(spf!, { kind: 'absent' })).toMatchObject({ state: 'MISSING', found: [] });
});

it('What somebody put into a zone is bounded, and holds nothing that a database refuses', () => {
  const values = [`\0\u001b[31m\ud800${'x'.repeat(70_000)}`, ...Array<string>(50).fill('y')];
  const { found } = recordFinding(spf!, { kind: 'found', values });
  expect(found).toHaveLength(10);
  expect(found[0]).toMatch(/^\ufffd\ufffd\[31m\ufffdx+…$/);
  expect(found[0]!.length).toBeLessThan(1_010);
});
