import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill, untilDrained } from './drain.mjs';
import { median } from './numbers.mjs';

const SAMPLE_EVERY_MS = 50;
const SLOWEST_PER_SECOND = 100;
const RECORDED_WITHIN_MS = 30_000;
/** The figure at each checkpoint is the median of the samples in this share of the run before it, so that a peak between two garbage collections does not count. */
const WINDOW = 0.05;

/** The points of the run at which the memory is reported: shares of the emails that have arrived. */
export const CHECKPOINTS = /** @type {const} */ ([0.1, 0.5, 1]);

/** @typedef {{ share: number, mib: number }} Sample the sender's memory when this share of the emails had arrived */
/** @typedef {{ emails: number, perSecond: number, mib: number[], max: number, ratio: number }} MemoryRound `mib`: at each of CHECKPOINTS; `max`: in MiB */

/**
 * Measures how much memory the sender uses while it sends many emails, each signed with both keys: after a tenth of them, after half and at
 * the end.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ emails: number, onRound: (text: string) => void }} options
 * @returns {Promise<MemoryRound>}
 */
export async function measureMemory(environment, { emails, onRound }) {
  const gateway = await environment.startApp('gateway');
  await environment.reset();
  await environment.signWith(['rsa', 'ed25519']);
  await fill(environment, gateway.port, emails);
  await gateway.stop();
  const [sender, scheduler] = await Promise.all([
    environment.startApp('sender'),
    environment.startApp('scheduler'),
  ]);
  const begun = performance.now();
  const samples = await sampleMemory(environment, sender.pid, emails);
  const perSecond = (emails * 1_000) / (performance.now() - begun);
  await untilDrained(environment, emails, RECORDED_WITHIN_MS);
  await Promise.all([sender.stop(), scheduler.stop()]);
  await environment.signWith([]);
  const result = roundOf(samples, emails, perSecond);
  onRound(
    `${emails} emails, ${Math.round(perSecond)}/s: ` +
      CHECKPOINTS.map(
        (checkpoint, index) => `${Math.round(result.mib[index] ?? NaN)} MiB at ${checkpoint * 100} %`,
      ).join(', '),
  );
  return result;
}

/** @param {readonly Sample[]} samples @param {number} emails @param {number} perSecond @returns {MemoryRound} */
export function roundOf(samples, emails, perSecond) {
  const mib = CHECKPOINTS.map((checkpoint) => {
    const near = samples.filter(({ share }) => share > checkpoint - WINDOW && share <= checkpoint);
    if (near.length === 0) throw new Error(`there is no sample near ${checkpoint * 100} %: too few emails`);
    return median(near.map((sample) => sample.mib));
  });
  const max = Math.max(...samples.map((sample) => sample.mib));
  return {
    emails,
    perSecond,
    mib,
    max,
    ratio: /** @type {number} */ (mib[2]) / /** @type {number} */ (mib[0]),
  };
}

/** @returns {Promise<Sample[]>} from the first arrival to the last */
async function sampleMemory(environment, pid, emails) {
  const deadline = performance.now() + 60_000 + (emails * 1_000) / SLOWEST_PER_SECOND;
  /** @type {Sample[]} */
  const samples = [];
  for (;;) {
    const arrived = await environment.sink.ask('count');
    if (arrived > 0) samples.push({ share: arrived / emails, mib: residentMiB(pid) });
    if (arrived >= emails) return samples;
    if (performance.now() > deadline) throw new Error(`only ${arrived} of ${emails} emails arrived in time`);
    await sleep(SAMPLE_EVERY_MS);
  }
}

/** The resident memory of a process. @param {number} pid */
function residentMiB(pid) {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (found === null) throw new Error(`the memory of process ${pid} cannot be read`);
  return Number(found[1]) / 1_024;
}

/** Samples the memory of the apps and of Redis until `end`, which returns the maximum of each in MiB. */
export function watchMemory(environment, apps) {
  /** @type {Record<string, number>} */
  const max = {};
  const record = (name, mib) => (max[name] = Math.max(max[name] ?? 0, mib));
  let isEnded = false;
  const sampling = (async () => {
    for (; !isEnded; await sleep(SAMPLE_EVERY_MS * 4)) {
      for (const [name, { pid }] of Object.entries(apps)) record(name, residentMiB(pid));
      record('redis', await environment.redisMiB());
    }
  })();
  // `end` reports a failure; unhandled until then, it would end this process before its cleanup.
  sampling.catch(() => undefined);
  const end = async () => {
    isEnded = true;
    await sampling;
    return max;
  };
  return { end };
}
