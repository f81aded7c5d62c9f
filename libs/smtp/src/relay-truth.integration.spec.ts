import { randomInt } from 'node:crypto';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Transmission } from '@posthorn/domain';
import { ScriptedSmtpServer, type SinkAnswer, type SinkScript, type SinkStage } from '@posthorn/testing';
import { SmtpTransport } from './smtp-transport.ts';

/** RELAY_SEED repeats a run. */
const SEED = Number(process.env['RELAY_SEED'] ?? randomInt(2 ** 31));
const RUNS = 40;
const EMAILS = 12;
/** On a busy machine even a quick answer may come too late: that is true, too. */
const PATIENCE_MS = 300;
const STAGES: readonly SinkStage[] = ['greeting', 'ehlo', 'auth', 'mail', 'rcpt', 'data', 'content'];
const OFFERS = ['PIPELINING', 'SIZE', '8BITMIME', 'SMTPUTF8', 'DSN', 'STARTTLS', 'AUTH PLAIN LOGIN'];

const replies = fc.constantFrom(
  ...['220 hello', '250 ok', '250-ok\r\n250 ok', '334 ', '354 go on', '251 elsewhere', '200', '250'],
  ...[
    '421 4.3.2 bye',
    '450 4.2.1 later',
    '451-4.7.1 come\r\n451 4.7.1 back',
    '452 4.5.3 many',
    '454 4.7.0 TLS',
  ],
  ...['500 what', '501 5.5.4 how', '503 5.5.1 order', '535 5.7.8 who', '550 5.1.1 nobody', '554 5.7.1 no'],
  ...['999 nonsense', 'nonsense', '', '25', '2500 ok', '250-more', '5.1.1 550', '250 ok\r\n250 and again'],
  ...['550 no\r\n250 but yes', `250 ${'x'.repeat(2_000)}`, '250 \0\u00ff', '250 ok\n'],
);
const answers: fc.Arbitrary<SinkAnswer> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ reply: replies }) },
  { weight: 3, arbitrary: fc.record({ reply: replies, drop: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.constantFrom<SinkAnswer>({ drop: true }, {}, { delayMs: 20 }) },
);
/** What the relay does the nth time that a stage is reached; where nothing stands, it goes on. */
const moods = fc.record({
  offers: fc.subarray([...OFFERS]),
  turns: fc.array(fc.tuple(fc.constantFrom(...STAGES), fc.nat({ max: 20 }), answers), { maxLength: 8 }),
});

function scriptOf(turns: readonly (readonly [SinkStage, number, SinkAnswer])[]): SinkScript {
  const reached = new Map<SinkStage, number>();
  return (stage) => {
    const time = reached.get(stage) ?? 0;
    reached.set(stage, time + 1);
    const answer = turns.find(([at, nth]) => at === stage && nth === time)?.[2];
    // Of one that answers DATA with 2xx nobody knows whether it takes what comes next for a message.
    return stage === 'data' && answer?.reply?.includes('2') ? undefined : answer;
  };
}

it(`Whatever a relay does, what is said of an email is true (RELAY_SEED=${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(moods, async ({ offers, turns }) => {
      const server = await ScriptedSmtpServer.start(scriptOf(turns), { extensions: offers });
      const transport = new SmtpTransport(server.url.replace('//', '//joe:hunter2@'), {
        maxConnections: 2,
        maxMessagesPerConnection: 5,
        cooldownMs: 20,
        quitTimeoutMs: PATIENCE_MS,
        connectionTimeoutMs: PATIENCE_MS,
        greetingTimeoutMs: PATIENCE_MS,
        socketTimeoutMs: PATIENCE_MS,
      });
      const sent = await Promise.all(
        Array.from({ length: EMAILS }, async (_, n): Promise<[number, Transmission]> => {
          const message = Buffer.from(`Subject: ${n}\r\n\r\n..\r\n.\r\nhello\r\n`);
          return [n, await transport.send({ from: `a${n}@example.com`, to: `b${n}@example.com` }, message)];
        }),
      );
      await transport.close();
      await server.close();
      for (const [n, { kind }] of sent) {
        const taken = server.messages.filter(({ raw }) => raw.toString().startsWith(`Subject: ${n}\r\n`));
        const possible = taken.length === 0 ? ['refused', 'broken', 'unknown'] : ['accepted', 'unknown'];
        expect([n, taken.length <= 1, possible.includes(kind), kind]).toEqual([n, true, true, kind]);
        for (const { raw, from, to } of taken)
          expect([raw.toString(), from, to]).toEqual([
            `Subject: ${n}\r\n\r\n..\r\n.\r\nhello\r\n`,
            `a${n}@example.com`,
            [`b${n}@example.com`],
          ]);
      }
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});
