import { expect, it } from '@jest/globals';
import { nearestAnswer, type TxtAnswer } from './txt-answer.ts';

const DMARC: TxtAnswer = { kind: 'found', values: ['v=spf1 -all', 'v=DMARC1; p=reject'] };
const WILDCARD: TxtAnswer = { kind: 'found', values: ['v=spf1 -all'] };
const ABSENT: TxtAnswer = { kind: 'absent' };
const FAILED: TxtAnswer = { kind: 'failed', reason: 'SERVFAIL' };

it.each([
  ['its own record', [DMARC, DMARC], 0],
  ['that of the parent', [ABSENT, DMARC], 1],
  ['that of the parent, whatever a wildcard record answers', [WILDCARD, DMARC], 1],
  ['a failure, behind which there may be one', [ABSENT, FAILED, DMARC], 1],
  ['its own record, whatever fails above', [DMARC, FAILED], 0],
  ['its own answer where there is none', [WILDCARD, ABSENT], 0],
] as const)('The answer that counts is %s', (_which, answers, index) => {
  const [own, ...above] = answers.map((answer, level) => ({ name: String(level), answer }));
  expect(nearestAnswer([own!, ...above]).name).toBe(String(index));
});
