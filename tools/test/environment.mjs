import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';
import { ROOT } from '../stack/runtime.mjs';

/** The logs of the programs that a spec has started, written when one of its tests failed. */
const LOGS = join(ROOT, '.posthorn', 'test-logs');
const LAST_LINES = 5;
/** Log lines of these levels are also printed. */
const PROBLEM = /"level":"(?:warn|error|fatal)"/;

/**
 * The Node environment; when a test has failed, it also saves what the programs under test wrote, which usually shows why and would otherwise
 * be lost with the process.
 */
export default class Environment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.spec = relative(ROOT, context.testPath);
    // Its whole path, because two specs may have the same name.
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

  /** Saves the output of a program. @returns {string} where it is, and its last warnings and errors */
  keep({ name, pid, output }) {
    const file = join(this.directory, `${name}-${pid}.log`);
    writeFileSync(file, output);
    const problems = output.split('\n').filter((line) => PROBLEM.test(line));
    const shown = problems.slice(-LAST_LINES).map((line) => `    ${line}\n`);
    return `  ${relative(ROOT, file)} (${problems.length} warnings and errors)\n${shown.join('')}`;
  }
}
