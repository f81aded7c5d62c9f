import type { KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Coalescer, startTimeout, workerUrl } from '@posthorn/kernel';
import { Piscina } from 'piscina';
import type { RsaResult, RsaTask } from './rsa.worker.ts';

/** Enough that the way to a thread and back costs each little; few enough that the first does not wait long for the last: some 10 ms. */
const MAX_PER_GROUP = 32;
/** A group waits at each thread while another is signed, so that no thread waits for the event loop. */
const GROUPS_A_THREAD = 2;
const MAX_THREADS = 4;
/** How long a group may take on the way to a thread, there and back; the start of the thread included. */
const DEADLINE_MS = 10_000;
/** All but one of the threads end when they were idle for so long: starting one costs more than many signatures. */
const IDLE_MS = 60_000;
/** A thread keeps nothing; a young generation of the default size (48) would be filled all the same before it is looked at. */
const YOUNG_GENERATION_MB = 4;

interface Wanted {
  readonly text: string;
  readonly privateKey: KeyObject;
}

/**
 * Signs with RSA in threads of their own, which leave a core to the event loop. In Node's thread pool four signatures at once took the cores from it,
 * and what it had to do for those emails it then did while the cores lay idle; each signature also woke it for itself. The first signature
 * starts a thread; threads keep no process alive.
 */
export class RsaThreads {
  private readonly maxThreads = Math.min(Math.max(availableParallelism() - 1, 1), MAX_THREADS);
  private readonly groups = new Coalescer<Wanted, RsaResult>({
    serve: (wanted) => this.signTogether(wanted),
    maxItems: MAX_PER_GROUP,
    partitions: this.maxThreads * GROUPS_A_THREAD,
    partitionOf: () => (this.signed += 1),
  });
  private pool: Piscina<RsaTask, RsaResult[]> | undefined;
  private signed = 0;

  /** The signature, in base64, of a text of bytes (latin1). @throws Error with what OpenSSL says, when the key is none for it; with what ended two threads in a row */
  async sign(text: string, privateKey: KeyObject): Promise<string> {
    const result = await this.groups.add({ text, privateKey });
    if ('failure' in result) throw new Error(`RSA cannot sign: ${result.failure}`);
    return result.signature;
  }

  private async signTogether(wanted: readonly Wanted[]): Promise<RsaResult[]> {
    const keys = [...new Set(wanted.map(({ privateKey }) => privateKey))];
    const numbers = new Map(keys.map((key, number) => [key, number]));
    const texts = wanted.map(({ text, privateKey }): [string, number] => [text, numbers.get(privateKey)!]);
    const results = await this.signEvenIfAThreadDies({ keys, texts });
    // The pool's record of the task comes to the old generation at once, and keeps both until the whole heap is collected: so they are emptied.
    texts.length = 0;
    return results.splice(0);
  }

  /** A thread that dies takes its groups with it; they are signed once more by those in its place, which is as good as once. */
  private async signEvenIfAThreadDies(task: RsaTask): Promise<RsaResult[]> {
    try {
      return await this.signWithin(task);
    } catch {
      return await this.signWithin(task);
    }
  }

  private async signWithin(task: RsaTask): Promise<RsaResult[]> {
    const pool = (this.pool ??= this.newPool());
    const cancelTimeout = startTimeout(DEADLINE_MS, () => this.giveUp(pool));
    try {
      return await pool.run(task);
    } catch (error) {
      this.giveUp(pool);
      throw error;
    } finally {
      cancelTimeout();
    }
  }

  /** A pool whose thread has died while it started begins no other for those that wait: it is not to be trusted with anything any more. */
  private giveUp(pool: Piscina<RsaTask, RsaResult[]>): void {
    if (this.pool === pool) this.pool = undefined;
    void pool.destroy();
  }

  private newPool(): Piscina<RsaTask, RsaResult[]> {
    const pool = new Piscina<RsaTask, RsaResult[]>({
      filename: workerUrl(import.meta.url, 'rsa.worker'),
      minThreads: 1,
      maxThreads: this.maxThreads,
      concurrentTasksPerWorker: GROUPS_A_THREAD,
      idleTimeout: IDLE_MS,
      recordTiming: false,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    // A thread that fails between two tasks is replaced; unheard, its error would end the process.
    pool.on('error', () => undefined);
    return pool;
  }
}
