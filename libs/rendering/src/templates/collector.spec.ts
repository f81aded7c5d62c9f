import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from '@jest/globals';
import { collector } from './collector.ts';

const TAKING_BACK = `
  const { setFlagsFromString } = require('node:v8');
  require('node:worker_threads').parentPort.postMessage('begun');
  for (;;) setFlagsFromString('--no-expose-gc');`;

describe('What has the heap of a thread collected', () => {
  it('is there, and no context made afterwards has it', () => {
    expect(typeof collector()).toBe('function');
    expect(runInNewContext('typeof gc')).toBe('undefined');
  });

  it('is not given, and asked for again, while another thread takes the flag back', async () => {
    const other = new Worker(TAKING_BACK, { eval: true });
    await new Promise((resolve) => other.once('message', resolve));
    try {
      let given = collector();
      while (given !== undefined) given = collector();
      expect(given).toBeUndefined();
    } finally {
      await other.terminate();
    }
    expect(typeof collector()).toBe('function');
  });
});
