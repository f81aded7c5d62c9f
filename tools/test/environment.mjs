import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { TestEnvironment } from 'jest-environment-node';
import { ROOT } from '../stack/runtime.mjs';

/** The logs of the programs that a spec has started, written when one of its tests failed. */
const LOGS = join(ROOT, '.posthorn', 'test-logs');
const LAST_LINES = 5;
/** Log lines of these levels are also printed. */
const PROBLEM = /"level":"(?:warn|error|fatal)"/;
const POLL_INTERVAL_MS = 10;
/** Connections and pipes are counted even when nobody reads from them any more, so that they keep nothing running. */
const IGNORED = ['TCPSocketWrap', 'PipeWrap'];

/**
 * The Node environment; when a test has failed, it also saves what the programs under test wrote, which usually shows why and would otherwise
 * be lost with the process. A spec that leaves a timer, a server, a thread or a process behind fails.
 */
export default class Environment extends TestEnvironment {
  /**
   * How long a busy machine, whose disk may stand still, may need to end what the spec has ended. A connection to Redis leaves a timer of 12 s, because
   * ioredis does not clear it when it closes the connection.
   */
  closedWithinMs = 60_000;
  hasFailed = false;

  constructor(config, context) {
    super(config, context);
    this.openBefore = openResources();
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

  /**
   * Called by jest after the spec.
   *
   * @override
   * @throws if the spec has left something open, unless it has failed anyway
   */
  async teardown() {
    await super.teardown();
    const until = performance.now() + this.closedWithinMs;
    let left = this.leftOpen();
    while (left.length > 0 && performance.now() < until) {
      await setTimeout(POLL_INTERVAL_MS);
      left = this.leftOpen();
    }
    if (left.length > 0 && !this.hasFailed) throw new Error(`The spec has left open: ${left.join(', ')}`);
  }

  /** The kinds of resources of which there are more than before the spec. */
  leftOpen() {
    return [...openResources()]
      .filter(([kind, count]) => !IGNORED.includes(kind) && count > (this.openBefore.get(kind) ?? 0))
      .map(([kind]) => kind);
  }

  tell(what) {
    this.hasFailed = true;
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

/** How many resources of each kind keep this process running. @returns {Map<string, number>} */
function openResources() {
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), String);
  return new Map([...kinds].map(([kind, all]) => [kind, all.length]));
}
