import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { choosePorts } from './ports.mjs';
import { newKeyRing, provideKeyRing } from './secrets.mjs';
import { APPS as ALL_APPS } from '../settings-of-apps.ts';
import { readSettings } from './settings.mjs';
import { APPS, PREFERRED_PORTS } from './stack.mjs';

const PORTS = new URL('ports.mjs', import.meta.url).href;

describe('npm run up', () => {
  it('starts and stops every app, each with a port for itself and one for its metrics', () => {
    expect([...APPS].sort()).toEqual([...ALL_APPS].sort());
    expect(Object.keys(PREFERRED_PORTS)).toEqual(
      expect.arrayContaining(ALL_APPS.flatMap((app) => [app, `${app} metrics`])),
    );
  });
});

describe('Choosing ports', () => {
  it('keeps a preferred port that is free', async () => {
    const port = portOfNobody();
    expect(await choosePorts({ gateway: port })).toEqual({ gateway: port });
  });

  it('avoids one that is taken, and never gives it to two', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, resolve));
    const taken = (other.address() as AddressInfo).port;
    const ports = await choosePorts({ gateway: taken, sender: taken });
    other.close();

    expect(ports.gateway).not.toBe(taken);
    expect(ports.sender).not.toBe(taken);
    expect(ports.gateway).not.toBe(ports.sender);
  });

  it('gives one to one only, of those who ask at once too', async () => {
    const port = portOfNobody();
    const twice = await choosePorts({ gateway: port, dashboard: port });
    const again = await choosePorts({ gateway: port });

    expect(twice.gateway).toBe(port);
    expect(new Set([twice.gateway, twice.dashboard, again.gateway]).size).toBe(3);
  });
});

/** Free, and held by nobody: a process that has ended had it, and it lies where no system gives ports away meanwhile. */
function portOfNobody(): number {
  const asking = `import { freePort } from '${PORTS}'; console.log(await freePort());`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', asking], {
    encoding: 'utf8',
  });
  return Number(stdout);
}

describe('A free port', () => {
  it('is given to one of the processes that ask at once, and lies below the ports of outgoing connections', async () => {
    const asking = `import { freePort } from '${PORTS}';
      for (let i = 0; i < 200; i += 1) console.log(await freePort());
      process.stdin.resume();`;
    const processes = Array.from({ length: 6 }, () =>
      spawn(process.execPath, ['--input-type=module', '--eval', asking]),
    );
    const answers = await Promise.all(processes.map(({ stdout }) => portsOf(stdout)));
    for (const { stdin } of processes) stdin.end();
    const ports = answers.flat();

    expect(ports).toHaveLength(1_200);
    expect(new Set(ports).size).toBe(1_200);
    expect(Math.min(...ports)).toBeGreaterThanOrEqual(10_000);
    expect(Math.max(...ports)).toBeLessThan(32_768);
  });
});

/** The first 200 lines. */
async function portsOf(output: Readable): Promise<number[]> {
  const ports: number[] = [];
  for await (const line of createInterface(output)) {
    ports.push(Number(line));
    if (ports.length === 200) break;
  }
  return ports;
}

describe('Settings', () => {
  it('come from the environment first, then from .env; an empty value is none', () => {
    const folder = mkdtempSync(join(tmpdir(), 'settings-'));
    const file = join(folder, '.env');
    writeFileSync(file, 'A=file\nB="of the file" # why\nC=\n');
    const settings = readSettings({ A: 'environment', B: '' }, file);
    rmSync(folder, { recursive: true });

    expect(settings).toEqual({ A: 'environment', B: 'of the file' });
  });

  it('are read from a file as Windows writes it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'settings-'));
    const file = join(folder, '.env');
    writeFileSync(file, '\uFEFFA="1"\r\nB=2\r\n');
    const settings = readSettings({}, file);
    rmSync(folder, { recursive: true });

    expect(settings).toEqual({ A: '1', B: '2' });
  });
});

describe('The encryption key of the local stack', () => {
  it('is made once, kept for its owner alone, and gives way to one of the settings', () => {
    const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    const file = join(folder, 'secrets.json');
    const made = provideKeyRing({}, file);
    expect(made).toMatch(/^20\d\d:[A-Za-z0-9+/]{43}=$/);
    expect(provideKeyRing({}, file)).toBe(made);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(provideKeyRing({ ENCRYPTION_KEYS: 'mine' }, file)).toBe('mine');
    expect(newKeyRing()).not.toBe(made);
    writeFileSync(file, '{"encr');
    expect(() => provideKeyRing({}, file)).toThrow(/secrets\.json is damaged.* npm run nuke\.$/);
    rmSync(folder, { recursive: true });
  });
});
