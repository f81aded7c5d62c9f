import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill, untilDrained } from './drain.mjs';
import { median } from './numbers.mjs';

const SAMPLE_EVERY_MS = 50;
const SLOWEST_PER_SECOND = 100;
const RECORDED_WITHIN_MS = 30_000;
/** What is told of each place is the median of the samples of this share of the run before it: a moment of garbage is none. */
const WINDOW = 0.05;

/** Where in the run the memory is told: shares of the emails that have arrived. */
export const MARKS = /** @type {const} */ ([0.1, 0.5, 1]);

/** @typedef {{ share: number, mib: number }} Sample how much the sender held when this share of the emails had arrived */
/** @typedef {{ emails: number, perSecond: number, mib: number[], max: number, ratio: number }} MemoryRound MiB at each of MARKS, and at most */

/**
 * Measures how much memory the sender holds while it sends many emails, each signed with both keys: at a tenth of them, at half and at
 * the end.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ emails: number, onRound: (text: string) => void }} options
 * @returns {Promise<MemoryRound>}
 */
export async function measureMemory(ground, { emails, onRound }) {
  const gateway = await ground.startApp('gateway');
  await ground.sweep();
  await ground.signWith(['rsa', 'ed25519']);
  await fill(ground, gateway.port, emails);
  await gateway.stop();
  const [sender, scheduler] = await Promise.all([ground.startApp('sender'), ground.startApp('scheduler')]);
  const begun = performance.now();
  const samples = await sampled(ground, sender.pid, emails);
  const perSecond = (emails * 1_000) / (performance.now() - begun);
  await untilDrained(ground, emails, RECORDED_WITHIN_MS);
  await Promise.all([sender.stop(), scheduler.stop()]);
  await ground.signWith([]);
  const result = roundOf(samples, emails, perSecond);
  onRound(
    `${emails} emails, ${Math.round(perSecond)}/s: ` +
      MARKS.map((mark, index) => `${Math.round(result.mib[index] ?? NaN)} MiB at ${mark * 100} %`).join(', '),
  );
  return result;
}

/** @param {readonly Sample[]} samples @param {number} emails @param {number} perSecond @returns {MemoryRound} */
export function roundOf(samples, emails, perSecond) {
  const mib = MARKS.map((mark) => {
    const near = samples.filter(({ share }) => share > mark - WINDOW && share <= mark);
    if (near.length === 0)
      throw new Error(`the memory was not looked at near ${mark * 100} %: too few emails`);
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
async function sampled(ground, pid, emails) {
  const deadline = performance.now() + 60_000 + (emails * 1_000) / SLOWEST_PER_SECOND;
  /** @type {Sample[]} */
  const samples = [];
  for (;;) {
    const arrived = await ground.sink.ask('count');
    if (arrived > 0) samples.push({ share: arrived / emails, mib: residentMiB(pid) });
    if (arrived >= emails) return samples;
    if (performance.now() > deadline) throw new Error(`only ${arrived} of ${emails} emails arrived in time`);
    await sleep(SAMPLE_EVERY_MS);
  }
}

/** What a process holds. @param {number} pid */
export function residentMiB(pid) {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (found === null) throw new Error(`the memory of process ${pid} cannot be read`);
  return Number(found[1]) / 1_024;
}
