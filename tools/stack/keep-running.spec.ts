import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hasEnded, isAlive, waitUntil } from './processes.mjs';

const TOOLS = fileURLToPath(new URL('..', import.meta.url));
const WITHIN = { withinMs: 60_000, what: 'It' };

/** A checkout of the programs alone: what they write goes there. */
let root: string;
let program: ChildProcess | undefined;
let output: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keeper-'));
  // Postgres passes through it under another account when the tests are root's.
  chmodSync(root, 0o755);
  cpSync(TOOLS, join(root, 'tools'), { recursive: true });
  symlinkSync(join(TOOLS, '..', 'node_modules'), join(root, 'node_modules'));
});

afterEach(async () => {
  program?.kill('SIGTERM');
  await waitUntil(() => program === undefined || hasEnded(program), WITHIN);
  // What a server leaves that was killed may still be writing.
  rmSync(root, { recursive: true, force: true, maxRetries: 20 });
});

/** Runs a script as the process that keeps everything; what it says is in `output`. It stops with `await stop()`. */
function runKeeper(script: string): void {
  output = '';
  const end = `process.on('SIGTERM', async () => { await stop(); await endAll(); process.exit(0); });`;
  const imports = `import { endAll, startProcess } from './tools/stack/processes.mjs';`;
  const args = ['--input-type=module', '--eval', `${imports}${script};${end}console.log('ready');`];
  program = spawn(process.execPath, args, { cwd: root, env: process.env });
  for (const stream of [program.stdout, program.stderr])
    stream?.on('data', (text) => (output += String(text)));
}

async function said(words: RegExp): Promise<RegExpExecArray> {
  await waitUntil(() => words.test(output) || program === undefined || hasEnded(program), WITHIN);
  expect(output).toMatch(words);
  return words.exec(output) as RegExpExecArray;
}

/** Keeps a program that sleeps, and says the pid of each; `otherwise` is what happens before the second start. */
function keepSleeper({ otherwise = '', ports = [] as number[], logFile = 'sleep.log' } = {}): void {
  runKeeper(`
    import { keepRunning } from './tools/stack/keep-running.mjs';
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    let starts = 0;
    const start = async () => {
      starts += 1;
      if (starts === 2) { ${otherwise} }
      const child = await startProcess({ command: 'sleep', args: ['600'], logFile: '${logFile}' });
      console.log('pid ' + starts + ': ' + child.pid + '.');
      return child;
    };
    await keepRunning({ name: 'sleep', logFile: '${logFile}', ports: [${ports.join()}], start, signal: stopping.signal })`);
}

async function pidOf(start: number): Promise<number> {
  return Number((await said(new RegExp(`pid ${start}: (\\d+)\\.`)))[1]);
}

describe('What is kept running', () => {
  it('is started again when it ends, later each time, and both are said', async () => {
    keepSleeper();
    process.kill(await pidOf(1), 'SIGKILL');
    await said(/^sleep ended with SIGKILL; starting it again in 1 s\. Its log: sleep\.log$/m);
    await said(/^sleep is up again\.$/m);
    process.kill(await pidOf(2), 'SIGTERM');
    await said(/^sleep ended with SIGTERM; starting it again in 2 s\. /m);
    expect(isAlive(await pidOf(3))).toBe(true);
  });

  it('is started until it starts: a start that fails ends nothing else', async () => {
    keepSleeper({ otherwise: `throw new Error('It did not start:\\nthere is no room')` });
    process.kill(await pidOf(1), 'SIGKILL');
    await said(/^sleep did not start \(there is no room\); starting it again in 2 s\. /m);
    expect(isAlive(await pidOf(3))).toBe(true);
  });

  it('waits for a port that another program has taken, and says which', async () => {
    const other = await listen();
    const { port } = other.address() as AddressInfo;
    keepSleeper({ ports: [port] });
    process.kill(await pidOf(1), 'SIGKILL');
    await said(
      new RegExp(`^sleep did not start \\(another program has taken its port ${port}\\); starting`, 'm'),
    );
    other.close();
    expect(isAlive(await pidOf(2))).toBe(true);
  });

  it('is still kept after signals could not be sent to it', async () => {
    runKeeper(`
      import { keepRunning } from './tools/stack/keep-running.mjs';
      const stopping = new AbortController();
      const stop = () => stopping.abort();
      let starts = 0;
      const start = async () => {
        const child = await startProcess({ command: 'sleep', args: ['600'], logFile: 'sleep.log' });
        console.log('pid ' + (starts += 1) + ': ' + child.pid + '.');
        setTimeout(() => {
          for (const refused of ['once', 'again']) child.emit('error', new Error('kill EPERM ' + refused));
          console.log('refused.');
        });
        return child;
      };
      await keepRunning({ name: 'sleep', logFile: 'sleep.log', ports: [], start, signal: stopping.signal })`);
    await said(/refused\./);
    process.kill(await pidOf(1), 'SIGKILL');
    expect(isAlive(await pidOf(2))).toBe(true);
  });

  it('is not started again when everything is being stopped', async () => {
    keepSleeper();
    const pid = await pidOf(1);
    await said(/ready/);
    program?.kill('SIGTERM');
    await waitUntil(() => program?.exitCode === 0 && !isAlive(pid), WITHIN);
    expect(output).not.toContain('again');
  });
});

describe('The log of what is kept running', () => {
  it('begins anew when it has become large, and keeps what it had beside it', async () => {
    runKeeper(`
      import { truncateLargeLogs, makeStateFolder, newLogFile } from './tools/stack/state.mjs';
      makeStateFolder();
      const logFile = newLogFile('talker');
      const talk = 'head -c 17000000 /dev/zero; while read -r line; do :; done < fifo; echo more; sleep 600';
      execFileSync('mkfifo', ['fifo']);
      const child = await startProcess({ command: 'sh', args: ['-c', talk], logFile });
      const stop = () => undefined;
      const size = (file) => statSync(file).size;
      while (size(logFile) < 17_000_000) await sleep(20);
      truncateLargeLogs();
      execFileSync('sh', ['-c', 'echo >fifo']);
      while (size(logFile) === 0) await sleep(20);
      console.log('sizes: ' + size(logFile) + ' ' + size(logFile.replace('.log', '.previous.log')) + '.');
      truncateLargeLogs();
      console.log('then: ' + size(logFile) + '.');
      import { execFileSync } from 'node:child_process';
      import { statSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises'`);
    await said(/^sizes: 5 17000000\.\nthen: 5\.$/m);
  });
});

describe('The folder of the logs', () => {
  it('may be emptied or removed while everything is up: that ends nothing', async () => {
    runKeeper(`
      import { truncateLargeLogs, makeStateFolder } from './tools/stack/state.mjs';
      import { rmSync, symlinkSync } from 'node:fs';
      const stop = () => undefined;
      makeStateFolder();
      symlinkSync('gone', '.posthorn/logs/gone.log');
      truncateLargeLogs();
      rmSync('.posthorn/logs', { recursive: true });
      truncateLargeLogs();
      console.log('went on.')`);
    await said(/went on\./);
  });

  it('is made again for what is started again', async () => {
    mkdirSync(join(root, 'logs'));
    keepSleeper({ logFile: 'logs/sleep.log' });
    const pid = await pidOf(1);
    rmSync(join(root, 'logs'), { recursive: true });
    process.kill(pid, 'SIGKILL');
    await said(/^sleep (did not start|is up again)/m);
    expect(output).not.toContain('did not start');
  });
});

async function listen(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function postmasterPid(): number {
  return Number.parseInt(
    readFileSync(join(root, '.posthorn', 'postgres', 'data', 'postmaster.pid'), 'utf8'),
    10,
  );
}

/** Whether Redis has written down what is to be kept: it may answer up to two seconds earlier. */
function isWrittenDown(): boolean {
  const folder = join(root, '.posthorn', 'redis', 'appendonlydir');
  return readdirSync(folder).some((name) => {
    try {
      return readFileSync(join(folder, name), 'utf8').includes('kept');
    } catch {
      // Redis has renamed it meanwhile.
      return false;
    }
  });
}

/** The servers that a process has started and that have not ended, without the shells of their watchdogs. */
function serversOf(parent: number | undefined): number[] {
  const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args=']).toString().trim().split('\n');
  return all.flatMap((line) => {
    const [pid, ppid, state, command] = line.trim().split(/\s+/);
    return Number(ppid) === parent && !state!.startsWith('Z') && command !== 'sh' ? [Number(pid)] : [];
  });
}

it('A server that does not answer in time is ended', async () => {
  runKeeper(`
    import { startServer } from './tools/stack/processes.mjs';
    const stop = () => undefined;
    const deaf = { name: 'sleep', command: 'sleep', args: ['600'], logFile: 'sleep.log', isUp: async () => false };
    await startServer({ ...deaf, withinMs: 100 }).catch(({ message }) => console.log('failed: ' + message))`);
  await said(/^failed: sleep /m);
  await said(/ready/);
  expect(serversOf(program?.pid)).toEqual([]);
});

it('A server that is to be stopped before it answers is not waited for', async () => {
  runKeeper(`
    import { startServer } from './tools/stack/processes.mjs';
    const stop = () => undefined;
    const deaf = { name: 'sleep', command: 'sleep', args: ['600'], logFile: 'sleep.log', isUp: async () => false };
    await startServer({ ...deaf, withinMs: 600_000, signal: AbortSignal.abort() }).catch(({ name }) => console.log(name + '.'))`);
  await said(/^AbortError\.$/m);
  await said(/ready/);
  expect(serversOf(program?.pid)).toEqual([]);
});

describe('Postgres, Redis and the inbox of the local stack', () => {
  it('are started again with what they kept when they are killed', async () => {
    runKeeper(`
      import { makeStateFolder } from './tools/stack/state.mjs';
      import { freePort } from './tools/stack/ports.mjs';
      import { query } from './tools/stack/postgres.mjs';
      import { askRedis } from './tools/stack/redis.mjs';
      import { provideInbox, providePostgres, provideRedis } from './tools/stack/services.mjs';
      makeStateFolder();
      const redisPort = await freePort();
      const postgres = await providePostgres({}, await freePort());
      const redis = await provideRedis({}, redisPort);
      const inbox = await provideInbox({ smtp: await freePort(), web: await freePort() });
      const stop = () => Promise.all([postgres.stop(), redis.stop(), inbox.stop()]);
      await query(postgres.url, 'CREATE TABLE kept ()');
      const stay = () => query(postgres.url, 'SELECT pg_sleep(600)').catch(() => setTimeout(stay, 100));
      void stay();
      await askRedis(redisPort, 'SET kept 1');
      process.on('SIGUSR2', async () => {
        const rows = await query(postgres.url, 'SELECT FROM kept');
        const kept = await askRedis(redisPort, 'GET kept');
        const { ok } = await fetch(inbox.webUrl + '/health');
        console.log('kept: ' + rows.length + ' ' + JSON.stringify(kept) + ' ' + ok);
      });
      console.log('written.')`);
    await said(/written\./);
    await waitUntil(isWrittenDown, WITHIN);
    for (const pid of serversOf(program?.pid)) process.kill(pid, 'SIGKILL');
    for (const name of ['Postgres', 'Redis', 'The inbox']) {
      await said(
        new RegExp(
          `^${name} ended with SIGKILL; starting it again in 1 s\\. Its log: .*\\.posthorn/logs/`,
          'm',
        ),
      );
      await said(new RegExp(`^${name} is up again\\.$`, 'm'));
    }
    program?.kill('SIGUSR2');
    await said(/^kept: 0 "\$1\\r\\n1\\r\\n" true$/m);
    // It lets nobody in any more, but waits for those who are connected.
    process.kill(postmasterPid(), 'SIGTERM');
    // The later, the more often it had to be started before: what was left of the killed one may have been in its way.
    await said(/^Postgres ended with code 0; starting it again in \d+ s\. [^]*^Postgres is up again\.$/m);
  });

  it('are gone when they are stopped while they are just being started again', async () => {
    runKeeper(`
      import { provideInbox } from './tools/stack/services.mjs';
      import { freePort } from './tools/stack/ports.mjs';
      const ports = { smtp: await freePort(), web: await freePort() };
      const inbox = await provideInbox(ports, { directory: 'inbox', logFile: 'inbox.log' });
      const stop = () => undefined;
      process.on('SIGUSR2', async () => {
        const stopped = inbox.stop();
        console.log('stopping.');
        await stopped;
        console.log('stopped.');
      })`);
    await said(/ready/);
    const [first] = serversOf(program?.pid);
    // The second one never becomes ready.
    writeFileSync(join(root, 'tools', 'inbox', 'main.mjs'), 'setInterval(() => undefined, 1_000)');
    process.kill(first!, 'SIGKILL');
    await waitUntil(() => serversOf(program?.pid).some((pid) => pid !== first), WITHIN);
    program?.kill('SIGUSR2');
    await said(/stopping\./);
    // Not for as long as the inbox may take to become ready.
    await waitUntil(() => output.includes('stopped.'), { withinMs: 30_000, what: 'Stopping' });
    expect(serversOf(program?.pid)).toEqual([]);
    expect(output).not.toContain('up again');
  });
});
