import { setImmediate as settled } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { type LaneId, nowLane } from '@posthorn/domain';
import { MessageMemory } from './message-memory.ts';

const [ACME, OTHER] = [nowLane(newId('wrk', 0)), nowLane(newId('wrk', 1))];

/** A message that is composed and used when the test says so. */
class Message {
  readonly message = Promise.withResolvers<number>();
  readonly used = Promise.withResolvers<void>();
  isBegun = false;
  readonly done: Promise<void>;

  constructor(room: MessageMemory, laneId: LaneId) {
    this.done = room.hold(
      laneId,
      () => ((this.isBegun = true), this.message.promise),
      (bytes) => bytes,
      () => this.used.promise,
    );
    this.done.catch(() => undefined);
  }
}

const begun = (messages: readonly Message[]): boolean[] => messages.map(({ isBegun }) => isBegun);

describe('MessageMemory', () => {
  it('composes no more while composed messages take too much, except for one of each lane whose messages take little', async () => {
    const room = new MessageMemory(100, 16);
    const first = new Message(room, ACME);
    first.message.resolve(150);
    await settled();
    const [second, other, third] = [
      new Message(room, ACME),
      new Message(room, OTHER),
      new Message(room, OTHER),
    ];
    await settled();
    expect(begun([second, other, third])).toEqual([false, true, false]);
    first.used.resolve();
    await first.done;
    await settled();
    expect(begun([second, other, third])).toEqual([true, true, true]);
  });

  it('composes few at once, since their size is not known yet', async () => {
    const room = new MessageMemory(100, 2);
    const messages = [1, 2, 3].map(() => new Message(room, ACME));
    await settled();
    expect(begun(messages)).toEqual([true, true, false]);
    messages[0]!.message.resolve(1);
    await settled();
    expect(begun(messages)).toEqual([true, true, true]);
  });

  it('admits lanes in turn, however many of one lane came first', async () => {
    const room = new MessageMemory(100, 2);
    const [a, b, c, d] = [1, 2, 3, 4].map(() => new Message(room, ACME));
    const [x, y] = [1, 2].map(() => new Message(room, OTHER));
    for (const message of [a, b, x]) message!.message.resolve(1);
    await settled();
    expect(begun([c!, d!, y!])).toEqual([true, false, true]);
  });

  it('composes one after the other of a lane with small messages, however long those of others take', async () => {
    const room = new MessageMemory(6_400, 2);
    const slow = [1, 2, 3].map(() => new Message(room, ACME));
    const [a, b, c] = [1, 2, 3].map(() => new Message(room, OTHER));
    expect(begun([...slow, a!, b!, c!])).toEqual([true, true, false, true, false, false]);
    a!.message.resolve(10);
    await settled();
    expect(begun([b!, c!])).toEqual([true, false]);
    b!.message.resolve(90);
    await settled();
    expect(c!.isBegun).toBe(false);
    a!.used.resolve();
    await settled();
    expect([c!.isBegun, slow[2]!.isBegun]).toEqual([true, false]);
  });

  it('composes one after the other of a lane with small messages, however much those of others take', async () => {
    const room = new MessageMemory(6_400, 2);
    new Message(room, ACME).message.resolve(7_000);
    await settled();
    const [more, a, b, c] = [ACME, OTHER, OTHER, OTHER].map((laneId) => new Message(room, laneId));
    a!.message.resolve(10);
    await settled();
    expect(begun([more!, a!, b!, c!])).toEqual([false, true, true, false]);
  });

  it('releases memory when composing or using a message fails', async () => {
    const room = new MessageMemory(100, 1);
    const [first, second, third] = [
      new Message(room, ACME),
      new Message(room, ACME),
      new Message(room, ACME),
    ];
    first.message.reject(new Error('not made'));
    await expect(first.done).rejects.toThrow('not made');
    await settled();
    second.message.resolve(200);
    await settled();
    expect(begun([second, third])).toEqual([true, false]);
    second.used.reject(new Error('not used'));
    await expect(second.done).rejects.toThrow('not used');
    await settled();
    expect(third.isBegun).toBe(true);
  });

  it('counts messages that are done or have failed no longer, and no more than once', async () => {
    const room = new MessageMemory(100, 2);
    const [made, failed] = [new Message(room, ACME), new Message(room, ACME)];
    made.message.resolve(1);
    made.used.resolve();
    failed.message.reject(new Error('not made'));
    await Promise.allSettled([made.done, failed.done]);
    const large = new Message(room, OTHER);
    large.message.resolve(200);
    await settled();
    const next = new Message(room, ACME);
    expect(next.isBegun).toBe(true);
    next.message.resolve(1);
    for (const { used } of [large, next]) used.resolve();
    await Promise.all([large.done, next.done]);
    const messages = [1, 2, 3].map(() => new Message(room, ACME));
    await settled();
    expect(begun(messages)).toEqual([true, true, false]);
  });
});
