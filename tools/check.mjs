// npm run check: every check that needs no services; all of them run, whatever fails.
import { ensureInstalled } from './stack/install.mjs';
import { elapsed, say, seconds } from './stack/progress.mjs';
import { run } from './stack/processes.mjs';
import { withInstalledBinaries } from './stack/runtime.mjs';
import { runScript } from './stack/script.mjs';

const HELP = `npm run check [-- --without-unit]
Runs format, lint, layers, types, unit tests and the search for unused code, each as npm run check:<name>, two at a time.
All of them run even if one fails; what failed is shown at the end.

  --without-unit   leave out the unit tests, which npm test runs too`;

/** The longest first, so that both workers end at about the same time. */
const CHECKS = ['unit', 'lint', 'format', 'types', 'unused', 'layers'];

const CONCURRENCY = 2;

/** @returns {Promise<{ name: string, output: string } | undefined>} what failed */
async function check(name) {
  const begun = performance.now();
  const line = (mark) => `  ${mark} ${name.padEnd(8)} ${seconds(performance.now() - begun).padStart(7)}`;
  try {
    await run({
      command: 'npm',
      args: ['run', '--silent', `check:${name}`],
      env: withInstalledBinaries(),
      keepLines: Infinity,
    });
    say(line('✓'));
    return undefined;
  } catch (error) {
    say(line('✗'));
    return { name, output: error.message };
  }
}

async function worker(waiting, failures) {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const failure = await check(name);
    if (failure !== undefined) failures.push(failure);
  }
}

async function main(checks) {
  await ensureInstalled();
  // Lint and the tests read the generated client, and the types are built into dist.
  await run({ command: 'npm', args: ['run', '--silent', 'generate'], env: withInstalledBinaries() });
  const waiting = [...checks];
  const failures = [];
  await Promise.all(Array.from({ length: CONCURRENCY }, () => worker(waiting, failures)));
  for (const { name, output } of failures) say(`\n── ${name} ──\n${output}`);
  const passed = checks.length - failures.length;
  say(`\n${passed} of ${checks.length} checks passed in ${elapsed()}.`);
  if (failures.length > 0) say(`To fix: ${failures.map(({ name }) => `npm run check:${name}`).join(', ')}`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

await runScript({
  help: HELP,
  options: { 'without-unit': { type: 'boolean' } },
  work: (values) => main(values['without-unit'] ? CHECKS.filter((name) => name !== 'unit') : CHECKS),
});
