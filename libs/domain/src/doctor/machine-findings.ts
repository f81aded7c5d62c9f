import { advice, bytesText, fault, type Finding, good } from './finding.ts';

/** The oldest supported release of Node, as in `engines` of package.json. */
const MIN_NODE_VERSION = [22, 19] as const;
const NOTICED_OFFSET_MS = 1_000;
const HARMFUL_OFFSET_MS = 30_000;
const MIN_FREE_SHARE = 0.1;
const MIN_FREE_BYTES = 1024 ** 3;
const HARMFUL_FREE_SHARE = 0.02;

/** @param version as `process.versions.node` */
export function judgeNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = MIN_NODE_VERSION;
  const isNewEnough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  const found = `Node ${version}`;
  return isNewEnough
    ? good(found)
    : fault(found, `install Node ${leastMajor}.${leastMinor} or newer; 24 is tested`);
}

/**
 * Compares the clock of another machine with that of this one.
 *
 * @param offsetMs by how much it is ahead
 * @param roundTripMs of the query: the offset is precise to half of it
 */
export function judgeClock(of: string, offsetMs: number, roundTripMs: number): Finding {
  const seen = Math.max(Math.abs(offsetMs) - roundTripMs / 2, 0);
  const direction = offsetMs >= 0 ? 'ahead of' : 'behind';
  const found =
    seen < NOTICED_OFFSET_MS
      ? `${of} and this machine agree to ${NOTICED_OFFSET_MS / 1_000} s`
      : `${of} is ${(seen / 1_000).toFixed(1)} s ${direction} this machine`;
  const mend = 'let both machines keep their time by NTP (chrony, systemd-timesyncd)';
  if (seen >= HARMFUL_OFFSET_MS) return fault(found, mend);
  return seen >= NOTICED_OFFSET_MS ? advice(found, mend) : good(found);
}

/** The free space of the disk of the working directory. */
export function judgeDisk(freeBytes: number, totalBytes: number): Finding {
  const share = totalBytes === 0 ? 0 : freeBytes / totalBytes;
  const found = `${bytesText(freeBytes)} of ${bytesText(totalBytes)} are free on this machine's disk`;
  const mend = 'make room: logs are the usual reason; a database that shares this disk stops when it is full';
  if (share < HARMFUL_FREE_SHARE) return fault(found, mend);
  return share < MIN_FREE_SHARE || freeBytes < MIN_FREE_BYTES ? advice(found, mend) : good(found);
}
