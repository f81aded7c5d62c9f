import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from '@jest/globals';
import { exposeGarbageCollector } from './expose-garbage-collector.ts';

const TAKING_BACK = `
  const { setFlagsFromString } = require('node:v8');
  require('node:worker_threads').parentPort.postMessage('begun');
  for (;;) setFlagsFromString('--no-expose-gc');`;

describe('exposeGarbageCollector', () => {
  it('returns the collector, and contexts created afterwards do not have it', () => {
    expect(typeof exposeGarbageCollector()).toBe('function');
    expect(runInNewContext('typeof gc')).toBe('undefined');
  });

  it('may return undefined while another thread resets the flag, and succeeds when called again', async () => {
    const other = new Worker(TAKING_BACK, { eval: true });
    await new Promise((resolve) => other.once('message', resolve));
    try {
      let given = exposeGarbageCollector();
      while (given !== undefined) given = exposeGarbageCollector();
      expect(given).toBeUndefined();
    } finally {
      await other.terminate();
    }
    expect(typeof exposeGarbageCollector()).toBe('function');
  });
});
