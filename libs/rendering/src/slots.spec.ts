import { describe, expect, it } from '@jest/globals';
import { Slots } from './slots.ts';

describe('Slots', () => {
  it('lets so many in at once and the others in the order in which they came', async () => {
    const slots = new Slots(1);
    const order: string[] = [];
    const first = await slots.take();
    const second = slots.take().then((release) => (order.push('second'), release));
    const third = slots.take().then((release) => (order.push('third'), release));
    expect(order).toEqual([]);
    first();
    (await second)();
    await third;
    expect(order).toEqual(['second', 'third']);
  });
});
