import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { timelineFacts, type Hit, tallyHits } from './engagement.ts';

const NOW = Date.UTC(2030, 0, 1);
const after = (seconds: number): Date => new Date(NOW + seconds * 1_000);
const emailId = newId('trs', NOW);
const EMAIL = { emailId, workspaceId: newId('wrk', NOW), groupBy: null, sentAt: after(0), dueAt: after(0) };

function hit(kind: 'open' | 'click', seconds: number, change: Partial<Hit> = {}): Hit {
  return {
    emailId,
    kind,
    at: after(seconds),
    sign: undefined,
    ...(kind === 'click' ? { url: 'https://a.example/' } : {}),
    ...change,
  };
}

describe('S17: a hit of an email', () => {
  const hits = [
    hit('open', 1),
    hit('open', 30),
    hit('open', 20),
    hit('open', 40, { sign: 'user_agent' }),
    hit('click', 50),
    hit('click', 60, { url: 'https://b.example/' }),
    hit('click', 70),
  ];
  const [tally] = tallyHits(hits, [EMAIL]);

  it('is counted separately for people and for programs', () => {
    expect(tally).toMatchObject({
      opens: 2,
      clicks: 3,
      machineOpens: 2,
      machineClicks: 0,
      openedAt: after(20),
      clickedAt: after(50),
    });
  });

  it('is recorded once: the earliest of each kind, and of each link', () => {
    const facts = timelineFacts(tally!, tally!).map(({ hit: { kind, sign, url, at }, triggersEvent }) => [
      kind,
      sign ?? 'person',
      url,
      at,
      triggersEvent,
    ]);
    expect(facts).toEqual([
      ['open', 'too_soon', undefined, after(1), false],
      ['open', 'person', undefined, after(20), true],
      ['click', 'person', 'https://a.example/', after(50), true],
      ['click', 'person', 'https://b.example/', after(60), false],
    ]);
  });

  it('is only counted when it is repeated', () => {
    const counts = { opens: 3, clicks: 4, machineOpens: 3, machineClicks: 0 };
    expect(
      timelineFacts(tally!, counts).map(({ hit: { kind }, triggersEvent }) => [kind, triggersEvent]),
    ).toEqual([
      ['click', false],
      ['click', false],
    ]);
  });

  it('is ignored when there is no such email', () => {
    expect(tallyHits([hit('open', 9, { emailId: newId('trs', NOW) })], [EMAIL])).toEqual([]);
  });
});
