import type { SinkAnswer, SinkScript, SinkStage, WebhookReceiver } from '@posthorn/testing';
import type { Random } from './random.ts';

interface Misstep {
  readonly probability: number;
  readonly answer: SinkAnswer;
}

/** What the relay does at a stage, now and then. */
const MISSTEPS: Partial<Record<SinkStage, readonly Misstep[]>> = {
  greeting: [{ probability: 0.02, answer: { reply: '421 4.3.2 busy', drop: true } }],
  mail: [{ probability: 0.01, answer: { reply: '451 4.3.0 try later' } }],
  rcpt: [
    { probability: 0.02, answer: { reply: '451 4.7.1 greylisted' } },
    { probability: 0.02, answer: { reply: '550 5.1.1 no such user' } },
  ],
  content: [
    { probability: 0.02, answer: { reply: '452 4.3.1 full' } },
    { probability: 0.01, answer: { reply: '554 5.7.1 refused as spam' } },
    { probability: 0.01, answer: { drop: true } },
    { probability: 0.01, answer: { isTaken: true, drop: true } },
    { probability: 0.05, answer: { delayMs: 1_500 } },
  ],
};

export function misbehavingRelay(random: Random): SinkScript {
  return (stage) => MISSTEPS[stage]?.find(({ probability }) => random.chance(probability))?.answer;
}

/** @param share of the POSTs that it hangs up on, and of those that it refuses */
export function misbehavingReceiver(random: Random, share: number): WebhookReceiver['answer'] {
  return () => {
    if (random.chance(share)) throw new Error('hangs up');
    if (random.chance(share)) return { status: random.pick([302, 404, 500, 503]) };
    return { status: 200, afterMs: random.chance(0.05) ? random.between(100, 4_000) : 0 };
  };
}
