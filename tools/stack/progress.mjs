const STARTED = performance.now();

// The reader may close the pipe (`npm run up | head`, a closed terminal); an unhandled error would leave processes behind.
process.stdout.on('error', () => undefined);

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** The time since this program started, in a readable form. */
export function elapsed() {
  return seconds(performance.now() - STARTED);
}

/** Prints one line of progress. @param {string} text */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/**
 * Runs a step and prints a line with the time that it took, and a detail of its result.
 *
 * @template T
 * @param {string} title what is being done, e.g. `Postgres`
 * @param {() => Promise<T> | T} work
 * @param {(result: T) => string} [detail] what to show of the result
 * @returns {Promise<T>}
 */
export async function step(title, work, detail = () => '') {
  const begun = performance.now();
  const shown = process.stdout.isTTY === true;
  if (shown) process.stdout.write(`  … ${title}`);
  const line = (mark, text) =>
    `${shown ? '\r\x1b[2K' : ''}  ${mark} ${title.padEnd(22)} ${seconds(performance.now() - begun).padStart(7)}  ${text}`.trimEnd();
  try {
    const result = await work();
    say(line('✓', detail(result)));
    return result;
  } catch (error) {
    say(line('✗', 'failed'));
    throw error;
  }
}
