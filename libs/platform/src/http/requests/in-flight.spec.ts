import { describe, expect, it } from '@jest/globals';
import { Refusal } from '@posthorn/kernel';
import { InFlight, InFlightShare } from './in-flight.ts';

function enter(all: InFlight): InFlightShare {
  const entry = all.enter();
  if (entry instanceof Refusal) throw entry;
  return entry;
}

describe('InFlight', () => {
  it('admits requests up to the limit, and another one after one has left', () => {
    const all = new InFlight({ maxRequests: 2, maxBytes: 10 });
    const first = enter(all);
    enter(all);
    expect(all.enter()).toMatchObject({ statusCode: 503 });
    first.leave();
    first.leave();
    expect(all.enter()).toBeInstanceOf(InFlightShare);
    expect(all.requests).toBe(2);
  });

  it('limits the bytes of all requests together', () => {
    const all = new InFlight({ maxRequests: 9, maxBytes: 10 });
    const [first, second] = [enter(all), enter(all)];
    expect(first.hold(6)).toBeUndefined();
    expect(first.hold(3)).toBeUndefined();
    expect(second.hold(5)).toMatchObject({ statusCode: 503 });
    first.leave();
    expect(second.hold(5)).toBeUndefined();
    second.leave();
    expect(all.bytes).toBe(0);
  });

  it('limits the bytes of each sender separately, also those held before the sender was known', () => {
    const all = new InFlight({ maxRequests: 9, maxBytes: 12 }, { maxRequests: 9, maxBytes: 5 });
    const [first, second, third] = [enter(all), enter(all), enter(all)];
    for (const share of [first, second, third]) expect(share.hold(2)).toBeUndefined();
    expect([first.assignTo('ada'), second.assignTo('ada')]).toEqual([undefined, undefined]);
    expect(second.hold(4)).toMatchObject({
      statusCode: 503,
      message: 'Too many request bodies of yours are being processed; try again in a moment',
    });
    expect([third.assignTo('bob'), third.hold(5)]).toEqual([undefined, undefined]);
    first.leave();
    expect([second.hold(4), second.hold(5)]).toEqual([undefined, undefined]);
    for (const more of [enter(all), enter(all)]) {
      more.hold(1);
      expect(more.assignTo('ada')).toMatchObject({ statusCode: 503 });
      more.leave();
    }
    const fourth = enter(all);
    fourth.hold(0);
    second.leave();
    third.leave();
    expect([fourth.assignTo('ada'), fourth.hold(5), all.bytes]).toEqual([undefined, undefined, 5]);
  });

  it('limits the requests of each sender separately, of which those that wait for their callers do not count', () => {
    const all = new InFlight({ maxRequests: 9, maxBytes: 10 }, { maxRequests: 2, maxBytes: 10 });
    const [first, second, third, other] = [enter(all), enter(all), enter(all), enter(all)];
    expect([first.assignTo('ada'), first.assignTo('ada'), second.assignTo('ada')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const refused = {
      statusCode: 503,
      message: 'Too many requests of yours are being processed; try again in a moment',
    };
    expect(third.assignTo('ada')).toMatchObject(refused);
    expect(other.assignTo('bob')).toBeUndefined();
    first.wait();
    expect(third.assignTo('ada')).toBeUndefined();
    expect(first.resume()).toMatchObject(refused);
    second.leave();
    expect([first.resume(), all.requests]).toEqual([undefined, 3]);
  });

  it('counts a request whose sender becomes known while its body is awaited when the body has arrived, once', () => {
    const all = new InFlight({ maxRequests: 9, maxBytes: 10 }, { maxRequests: 1, maxBytes: 10 });
    const [first, second, third] = [enter(all), enter(all), enter(all)];
    first.wait();
    expect([first.assignTo('ada'), second.assignTo('ada')]).toEqual([undefined, undefined]);
    expect(first.resume()).toMatchObject({ statusCode: 503 });
    second.leave();
    expect(first.resume()).toBeUndefined();
    first.leave();
    expect([third.assignTo('ada'), all.requests]).toEqual([undefined, 1]);
  });

  it('charges nothing to a sender who is refused', () => {
    const all = new InFlight({ maxRequests: 9, maxBytes: 10 }, { maxRequests: 1, maxBytes: 5 });
    const [large, small] = [enter(all), enter(all)];
    large.hold(6);
    expect(large.assignTo('ada')).toMatchObject({ statusCode: 503 });
    expect(small.assignTo('ada')).toBeUndefined();
  });

  it('does not count a request whose body is awaited, and admits it again when the body has arrived', () => {
    const all = new InFlight({ maxRequests: 1, maxBytes: 10 });
    const first = enter(all);
    first.wait();
    first.wait();
    const second = enter(all);
    expect(first.resume()).toMatchObject({ statusCode: 503 });
    second.leave();
    expect([first.resume(), first.resume(), all.requests]).toEqual([undefined, undefined, 1]);
    first.leave();
    expect([first.resume(), all.requests]).toEqual([undefined, 0]);
  });

  it('releases bytes that were discarded, once', () => {
    const all = new InFlight({ maxRequests: 9, maxBytes: 10 });
    const share = enter(all);
    share.hold(5);
    share.drop();
    expect(all.bytes).toBe(0);
    share.leave();
    expect(all.bytes).toBe(0);
  });

  it('holds no bytes for a request that has left', () => {
    const all = new InFlight({ maxRequests: 9, maxBytes: 10 });
    const share = enter(all);
    share.leave();
    share.hold(5);
    expect(all.bytes).toBe(0);
  });
});
