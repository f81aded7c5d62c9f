import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';
import { ROOT } from '../stack/runtime.mjs';

/** Where the programs of a spec say what they did, when one of its tests failed. */
const LOGS = join(ROOT, '.posthorn', 'test-logs');
const LAST_LINES = 5;
/** What the apps log at these levels is shown at once. */
const TROUBLE = /"level":"(?:warn|error|fatal)"/;

/**
 * Node, and what the programs under test wrote once a test has failed: what an app logged is most often why, and is lost with the process.
 */
export default class Environment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.spec = relative(ROOT, context.testPath);
    // Its whole path: of two specs of one name, the second would remove what is kept of the first.
    this.directory = join(LOGS, this.spec.replace(/\.ts$/, ''));
    // Of an earlier run.
    rmSync(this.directory, { recursive: true, force: true });
  }

  /**
   * Called by jest, among others when a hook or a test has failed.
   *
   * @param {{ name: string, test?: { name: string, errors: unknown[] }, error?: Error }} event
   */
  handleTestEvent({ name, test, error }) {
    if (name === 'hook_failure') this.tell(`a hook (${error?.message ?? error})`);
    else if (name === 'test_done' && test !== undefined && test.errors.length > 0)
      this.tell(`"${test.name}"`);
  }

  tell(what) {
    /** @type {any} */
    const { programsUnderTest } = this.global;
    /** @type {{ name: string, pid: number, output: string }[]} */
    const programs = programsUnderTest ?? [];
    if (programs.length === 0) return;
    mkdirSync(this.directory, { recursive: true });
    const lines = programs.map((program) => this.keep(program));
    process.stderr.write(
      `\n${this.spec}: ${what} failed. The programs beside it wrote:\n${lines.join('')}\n`,
    );
  }

  /** @returns {string} where all of it is, and what was wrong last */
  keep({ name, pid, output }) {
    const file = join(this.directory, `${name}-${pid}.log`);
    writeFileSync(file, output);
    const trouble = output.split('\n').filter((line) => TROUBLE.test(line));
    const shown = trouble.slice(-LAST_LINES).map((line) => `    ${line}\n`);
    return `  ${relative(ROOT, file)} (${trouble.length} warnings and errors)\n${shown.join('')}`;
  }
}
