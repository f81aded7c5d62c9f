import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './fences.ts';
import { cleanEnv, type Outcome, prepare, run } from './runners.ts';

/** What tools write to or beside: it is copied, so that this checkout stays unchanged. */
const COPIED = ['tools', 'prisma', 'k8s', 'package.json', 'package-lock.json'];
const LINKED = ['node_modules', 'libs', 'apps', 'test', 'docker-compose.yml'];

/** On a busy machine, a command may not reach the database within its limit of three seconds. It says so, and is run again. */
const NOT_REACHED = /^posthorn: (?:No database answers|Nothing answers )/m;
const RETRY_FOR_MS = 180_000;

/** What `npm run up` writes to `.posthorn/stack.json`. */
export interface LocalStack {
  readonly apiUrl: string;
  readonly inbox: { readonly webUrl: string };
  readonly workspaceId: string;
  readonly keys: { readonly apiUser: string; readonly editor: string };
  readonly databaseUrl: string;
}

/** A second, already built checkout, for commands that keep state in their folder. A stack that is up in it ends with the test, however that ends. */
export class Checkout {
  private constructor(
    readonly folder: string,
    private readonly cancelWatchdog: () => void,
  ) {}

  static make(folder: string): Checkout {
    mkdirSync(folder);
    // Postgres does not run as root, and must be able to enter the folder.
    chmodSync(folder, 0o755);
    for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    for (const name of LINKED) symlinkSync(join(ROOT, name), join(folder, name));
    return new Checkout(folder, cleanUpAtExit(folder));
  }

  get isUp(): boolean {
    return existsSync(this.stackFile);
  }

  /** The stack that is up in it. @throws when none is */
  get stack(): LocalStack {
    return JSON.parse(readFileSync(this.stackFile, 'utf8')) as LocalStack;
  }

  private get stackFile(): string {
    return join(this.folder, '.posthorn', 'stack.json');
  }

  /** Runs an example, or another script, in it. */
  async run(
    example: { readonly language: string; readonly code: string },
    env: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    const examples = join(this.folder, 'examples');
    mkdirSync(examples, { recursive: true });
    const program = await prepare(example, examples);
    const deadline = Date.now() + RETRY_FOR_MS;
    for (;;) {
      const outcome = await run(program, { cwd: this.folder, env: cleanEnv(env) });
      if (!NOT_REACHED.test(outcome.stderr) || Date.now() > deadline) return outcome;
    }
  }

  /** Stops the stack that is up in it and removes everything. */
  async remove(): Promise<void> {
    await this.run({ language: 'sh', code: 'npm run nuke -- --yes' });
    this.cancelWatchdog();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Starts a shell that waits until this process ends and closes its pipe, and then removes the checkout and the stack that is up in it. */
function cleanUpAtExit(folder: string): () => void {
  const script = 'cat >/dev/null; node tools/nuke.mjs --yes; rm -rf "$PWD"';
  const shell = spawn('sh', ['-c', script], {
    cwd: folder,
    env: cleanEnv(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  return () => void shell.kill('SIGKILL');
}
