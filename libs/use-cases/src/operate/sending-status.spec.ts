import { expect, it } from '@jest/globals';
import { sendingStatus } from './sending-status.ts';

it('The status of sending is read by one statement after the other: with a large backlog, others would wait for a connection in vain', async () => {
  let [running, most] = [0, 0];
  const read = <Result>(result: Result) => {
    return async (): Promise<Result> => {
      most = Math.max(most, (running += 1));
      await new Promise(setImmediate);
      running -= 1;
      return result;
    };
  };
  const [now, emails] = [new Date(0), { countedTo: 1, due: 0, waiting: 0, isMoreWaiting: false, taken: 0 }];
  const counted = { queues: [], areAll: true };
  const status = await sendingStatus(
    { list: read([]) },
    { lanesWithReadyRows: read([]), countEmails: read(emails) },
    {
      read: read({ aliveAt: now, isOfHere: true, now, heldSince: now, dumpedAt: now }),
      countDueSince: read(counted),
    },
  );
  expect(status).toEqual({
    pauses: [],
    lanesWithDueEmails: 0,
    emails,
    restoration: { heldSince: now, dumpedAt: now, counted },
  });
  expect(most).toBe(1);
});
