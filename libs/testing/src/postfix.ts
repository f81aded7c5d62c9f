import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { CertifiedKey } from './certificates.ts';
import { freePort, stackModule } from './stack.ts';

const run = promisify(execFile);

const POSTFIX = '/usr/sbin/postfix';
const READY_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 50;

/** The services of a Postfix that only relays: it accepts mail over SMTP and passes it on over SMTP. None runs in a chroot. */
const SERVICES = [
  'cleanup unix n - n - 0 cleanup',
  'qmgr unix n - n 300 1 qmgr',
  'tlsmgr unix - - n 1000? 1 tlsmgr',
  'rewrite unix - - n - - trivial-rewrite',
  'bounce unix - - n - 0 bounce',
  'defer unix - - n - 0 bounce',
  'trace unix - - n - 0 bounce',
  'proxymap unix - - n - - proxymap',
  'smtp unix - - n - - smtp',
  'relay unix - - n - - smtp',
  'error unix - - n - - error',
  'retry unix - - n - - error',
  'discard unix - - n - - discard',
  'anvil unix - - n - 1 anvil',
  'scache unix - - n - 1 scache',
  'postlog unix-dgram n - n - 1 postlogd',
];

/** The reason why tests cannot start a Postfix on this machine; undefined if they can. */
export function whyNoPostfix(): string | undefined {
  try {
    accessSync(POSTFIX, constants.X_OK);
  } catch {
    return `there is no ${POSTFIX}; on Debian, \`apt-get install postfix\` brings it`;
  }
  return process.getuid?.() === 0 ? undefined : 'only root can start a Postfix';
}

export interface PostfixOptions {
  /** The port on 127.0.0.1 that it relays all mail to. */
  readonly relayToPort: number;
  readonly certificate: CertifiedKey;
  /** Additional parameters for `main.cf`. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** A Postfix with its own queue and configuration, which relays mail from this host. */
export class Postfix {
  readonly #directory: string;
  readonly #port: number;
  #master: ChildProcess | undefined;

  private constructor(directory: string, port: number) {
    this.#directory = directory;
    this.#port = port;
  }

  /** @throws with its log when it does not answer in time */
  static async start(options: PostfixOptions): Promise<Postfix> {
    const directory = mkdtempSync(join(tmpdir(), 'posthorn-postfix-'));
    // Its daemons run as another user and must be able to enter the directory.
    chmodSync(directory, 0o755);
    const postfix = new Postfix(directory, await freePort());
    await postfix.#configure(options);
    await postfix.resume();
    return postfix;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.#port}`;
  }

  /** Stops it; its queue stays. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#master?.once('close', resolve) ?? resolve(undefined));
    await run(POSTFIX, ['-c', this.#configuration, 'stop']);
    await ended;
    this.#master = undefined;
  }

  /** Starts it again after a stop. */
  async resume(): Promise<void> {
    const { endWithParent } = await stackModule('processes');
    const master = spawn(POSTFIX, ['-c', this.#configuration, 'start-fg'], {
      detached: true,
      stdio: 'ignore',
    });
    this.#master = master;
    endWithParent(master);
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await this.#answers())) {
      if (performance.now() > deadline || master.exitCode !== null)
        throw new Error(`Postfix did not start:\n${this.log}`);
      await sleep(POLL_INTERVAL_MS);
    }
  }

  async close(): Promise<void> {
    if (this.#master !== undefined) await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** What it has logged so far. */
  get log(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
  }

  get #log(): string {
    return join(this.#directory, 'mail.log');
  }

  get #configuration(): string {
    return join(this.#directory, 'etc');
  }

  async #configure({ relayToPort, certificate, parameters }: PostfixOptions): Promise<void> {
    const [etc, queue, data] = ['etc', 'queue', 'data'].map((name) => join(this.#directory, name));
    for (const path of [etc!, queue!, data!]) mkdirSync(path);
    await run('chown', ['postfix', data!]);
    writeFileSync(join(etc!, 'tls.pem'), `${certificate.key}${certificate.cert}`, { mode: 0o600 });
    const main = {
      compatibility_level: '3.6',
      queue_directory: queue!,
      data_directory: data!,
      // Not standard output: under Jest that is a socket, which Postfix cannot open by name.
      maillog_file: this.#log,
      maillog_file_prefixes: this.#directory,
      myhostname: 'relay.example',
      mydestination: '',
      local_recipient_maps: '',
      alias_maps: '',
      inet_interfaces: '127.0.0.1',
      inet_protocols: 'ipv4',
      mynetworks: '127.0.0.0/8',
      relayhost: `[127.0.0.1]:${relayToPort}`,
      smtpd_tls_security_level: 'may',
      smtpd_tls_chain_files: join(etc!, 'tls.pem'),
      smtp_tls_security_level: 'none',
      ...parameters,
    };
    const lines = Object.entries(main).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(join(etc!, 'main.cf'), `${lines.join('\n')}\n`);
    const services = [`127.0.0.1:${this.#port} inet n - n - - smtpd`, ...SERVICES];
    writeFileSync(join(etc!, 'master.cf'), `${services.join('\n')}\n`);
    if (existsSync('/etc/postfix/dynamicmaps.cf')) await run('cp', ['/etc/postfix/dynamicmaps.cf', etc!]);
  }

  #answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, '127.0.0.1');
      const end = (answers: boolean): void => {
        socket.destroy();
        resolve(answers);
      };
      socket.once('data', () => end(true));
      socket.once('error', () => end(false));
      socket.once('close', () => end(false));
      socket.setTimeout(2_000, () => end(false));
    });
  }
}
