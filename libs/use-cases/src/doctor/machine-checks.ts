import { statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { advice, fault, type Finding, good, isLoopback, judgeDisk, judgeNode } from '@posthorn/domain';
import { withoutTrailing } from '@posthorn/kernel';
import { askGateway } from './ask-gateway.ts';
import type { Check } from './examine.ts';

const ANSWER_WITHIN_MS = 5_000;
/** Enough for the longest BOUNCE_DOMAIN. */
const MAX_GREETING = 200;

/** Where a gateway refuses a request that has no key, or a token that it has not made; by the setting whose URL leads there. */
const REFUSED_PATHS = { PUBLIC_URL: '/v1/api-keys/check', TRACKING_URL: '/t/c/doctor' } as const;

type UrlSetting = keyof typeof REFUSED_PATHS;

interface ExaminedInbound {
  readonly host: string;
  readonly port: number;
  readonly domain: string;
}

/** What is examined of this machine, and of the addresses that lead to it. */
interface ExaminedMachine {
  /** The faults of the settings; empty when there are none. */
  readonly settingsFaults: readonly string[];
  /** Names in `.env` that are not settings. */
  readonly unknownSettings: readonly string[];
  /** The URLs that callers and recipients use, by the name of their setting; undefined: unset. One that is missing is not checked. */
  readonly publicUrls: Readonly<Partial<Record<UrlSetting, string | undefined>>>;
  /** Whether a relay is on another machine. */
  readonly isRelayElsewhere: boolean;
  /** Where `inbound` listens on this machine, and the domain that it must have; undefined: returned mail does not go to Posthorn. */
  readonly inbound: ExaminedInbound | undefined;
}

/** The checks of the machine that `doctor` runs on, and of what must be reachable from it. */
export function machineChecks(machine: ExaminedMachine): Check[] {
  return [
    { name: 'settings', run: () => judgeSettings(machine) },
    { name: 'node', run: () => judgeNode(process.versions.node) },
    {
      name: 'disk',
      run: async () => {
        const { bavail, blocks, bsize } = await statfs(process.cwd());
        return judgeDisk(bavail * bsize, blocks * bsize);
      },
    },
    ...(Object.keys(machine.publicUrls) as UrlSetting[]).map((name) => ({
      name: `reach ${name}`,
      run: () => judgeUrl(name, machine),
    })),
    ...(machine.inbound === undefined
      ? []
      : [{ name: 'reach inbound', run: () => judgeInbound(machine.inbound!) }]),
  ];
}

function judgeSettings({ settingsFaults, unknownSettings }: ExaminedMachine): Finding {
  if (settingsFaults.length > 0)
    return fault(
      settingsFaults.join('; '),
      'correct them in the environment or in .env; docs/settings.md has them all',
    );
  if (unknownSettings.length > 0)
    return advice(
      `.env names what is not a setting: ${unknownSettings.join(', ')}`,
      'correct the names; docs/settings.md has them all',
    );
  return good('every setting has a value that is allowed');
}

/** Checks whether a gateway answers there. */
async function judgeUrl(
  name: UrlSetting,
  { publicUrls: { [name]: url }, isRelayElsewhere }: ExaminedMachine,
): Promise<Finding> {
  if (url === undefined || isLoopback(new URL(url).hostname))
    // In a container, this URL would not even lead to the gateway on the same machine, so no request is made.
    return (isRelayElsewhere ? fault : advice)(
      `${name} is ${url ?? 'not set'}: links in emails lead recipients to their own machine`,
      `set ${name} to what callers and recipients reach`,
    );
  const mend = `check that ${name} is correct, that a gateway is running, and that everything on the way to it lets requests through`;
  const asked = withoutTrailing(url, '/') + REFUSED_PATHS[name];
  const answer = await askGateway(asked);
  if ('failure' in answer) return fault(`${url} does not answer: ${answer.failure}`, mend);
  if (!answer.isRefusal) return fault(`${asked} is answered ${answer.status}, but not by a gateway`, mend);
  return answer.status < 500
    ? good(`a gateway answers at ${url}`)
    : fault(`${url} answers ${answer.status}`, mend);
}

/** Checks whether `inbound` greets on this machine, with its domain; it may run on another one, so that it does not is only advice. */
async function judgeInbound({ host, port, domain }: ExaminedInbound): Promise<Finding> {
  const where = `${host}, port ${port}`;
  const greeting = await greetingAt(host, port);
  const name = /^220 (\S+)/.exec(greeting)?.[1];
  if (name === domain) return good(`inbound greets at ${where}`);
  if (name !== undefined)
    return fault(
      `what greets at ${where} is ${name}, while BOUNCE_DOMAIN is ${domain}: it refuses what is returned there`,
      'set the same BOUNCE_DOMAIN for sender, inbound, gateway and dashboard, and restart those that were started before',
    );
  return advice(
    `no SMTP server answers at ${where} of this machine${greeting === '' ? '' : `: ${greeting}`}`,
    'start inbound, unless it runs on another machine',
  );
}

/** The SMTP greeting, or the reason why there is none. */
function greetingAt(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ANSWER_WITHIN_MS });
    const end = (text: string): void => {
      socket.destroy();
      resolve(text);
    };
    socket.once('data', (chunk) => end(chunk.toString('latin1').split('\r\n', 1)[0]!.slice(0, MAX_GREETING)));
    socket.once('timeout', () => end('no answer in time'));
    socket.once('error', (error) => end(error.message));
    socket.once('close', () => end(''));
  });
}
