import type { KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Coalescer, startTimeout, ThreadPool, workerUrl } from '@posthorn/kernel';
import signAll, { type RsaResult, type RsaTask } from './rsa.worker.ts';

/** Large enough to make the overhead of a thread small, and small enough for the first to wait only some 10 ms for the last. */
const MAX_PER_GROUP = 32;
/** One group waits at each thread while another is signed, so that no thread idles until the event loop sends more. */
const GROUPS_A_THREAD = 2;
const MAX_THREADS = 4;
/** How long a group may take, including the start of the thread. */
const DEADLINE_MS = 10_000;
/** Smaller than the default (48), because a thread has no long-lived data and would fill any size before a collection. */
const YOUNG_GENERATION_MB = 4;

interface Wanted {
  readonly text: string;
  readonly privateKey: KeyObject;
}

/**
 * Signs with RSA in separate threads, which leave a core to the event loop. In Node's thread pool, four concurrent signatures competed with it for the
 * cores, which were idle while it then processed the results; and each signature woke it separately. The first signature starts a thread; the
 * threads do not keep the process alive.
 */
export class RsaThreads {
  private readonly maxThreads = Math.min(Math.max(availableParallelism() - 1, 1), MAX_THREADS);
  private readonly groups = new Coalescer<Wanted, RsaResult>({
    serve: (wanted) => this.signTogether(wanted),
    maxItems: MAX_PER_GROUP,
    partitions: this.maxThreads * GROUPS_A_THREAD,
    partitionOf: () => (this.signed += 1),
  });
  private readonly pool = new ThreadPool<RsaTask, RsaResult[]>({
    module: workerUrl(import.meta.url, 'rsa.worker'),
    minThreads: 1,
    maxThreads: this.maxThreads,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    // A thread that dies between two groups is replaced.
    onError: () => undefined,
  });
  private signed = 0;

  /** The signature, in base64, of a text of bytes (latin1). @throws Error with what OpenSSL says, when the key is none for it */
  async sign(text: string, privateKey: KeyObject): Promise<string> {
    const result = await this.groups.add({ text, privateKey });
    if ('failure' in result) throw new Error(`RSA cannot sign: ${result.failure}`);
    return result.signature;
  }

  private async signTogether(wanted: readonly Wanted[]): Promise<RsaResult[]> {
    const keys = [...new Set(wanted.map(({ privateKey }) => privateKey))];
    const numbers = new Map(keys.map((key, number) => [key, number]));
    const texts = wanted.map(({ text, privateKey }): [string, number] => [text, numbers.get(privateKey)!]);
    return await this.signEvenWithoutThread({ keys, texts });
  }

  /**
   * A group whose thread dies, or for which the system gives none, is signed on this one: its emails must not wait for a retry because of that. Signing twice does
   * no harm.
   */
  private async signEvenWithoutThread(task: RsaTask): Promise<RsaResult[]> {
    try {
      return await this.signWithin(task);
    } catch {
      return signAll(task);
    }
  }

  private async signWithin(task: RsaTask): Promise<RsaResult[]> {
    const thread = this.pool.take();
    const cancelTimeout = startTimeout(DEADLINE_MS, () => void thread.end());
    try {
      return await thread.run(task).result;
    } finally {
      cancelTimeout();
    }
  }
}
