import { describe, expect, it, jest } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import { Deadline } from './deadline.ts';

describe('W7: the deadline of a POST', () => {
  it('gives up the step that it finds under way, not those before', async () => {
    const [first, second] = [jest.fn(), jest.fn()];
    const deadline = new Deadline(20);
    deadline.guard(first);
    deadline.guard(second);
    while (second.mock.calls.length === 0) await sleep(5);
    expect(first).not.toHaveBeenCalled();
    expect(second).toHaveBeenCalledTimes(1);
  });

  it('gives up a step that begins after it at once', async () => {
    const [first, second] = [jest.fn(), jest.fn()];
    const deadline = new Deadline(1);
    deadline.guard(first);
    while (first.mock.calls.length === 0) await sleep(5);
    deadline.guard(second);
    expect(second).toHaveBeenCalledTimes(1);
  });

  it('gives up nothing once it is cancelled', async () => {
    const step = jest.fn();
    const deadline = new Deadline(1);
    deadline.guard(step);
    deadline.clear();
    await sleep(50);
    expect(step).not.toHaveBeenCalled();
  });
});
