import { spawnSync } from 'node:child_process';
import { dkimRecord } from '@posthorn/domain';
import { type DkimAlgorithm, type DkimSigner, newDkimKeyPair, parseDkimKey } from '@posthorn/signing';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';

/** What the DNS says: names of records and their values. */
export type Zone = Readonly<Record<string, string>>;

/** Someone who signs, with the record that verifiers look up. */
export interface TestSigner {
  readonly signer: DkimSigner;
  readonly zone: Zone;
}

/** A signer for `domain` with a new key. */
export async function newTestSigner(algorithm: DkimAlgorithm, domain: string): Promise<TestSigner> {
  const { publicKey, privateKey } = await newDkimKeyPair(algorithm);
  const selector = `sel-${algorithm}`;
  const signer = { algorithm, domain, selector, privateKey: parseDkimKey(privateKey) };
  return { signer, zone: { [`${selector}._domainkey.${domain}`]: dkimRecord({ algorithm, publicKey }) } };
}

/** What mailauth says of each signature of a message, from the top: `pass`, `fail`, … */
export async function mailauthResults(message: Buffer, zone: Zone): Promise<string[]> {
  const resolver = (name: string): Promise<string[][]> => {
    const value = zone[name];
    if (value === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return Promise.resolve([[value]]);
  };
  const { results } = await dkimVerify(message, { resolver });
  return results.filter(({ signingDomain }) => signingDomain).map(({ status }) => status.result);
}

const PYTHON = '/usr/bin/python3';
const SCRIPT = `
import base64, dkim, json, sys
asked = json.load(sys.stdin)
records = {name + '.': value.encode() for name, value in asked['zone'].items()}
def look_up(name, timeout=5):
    return records.get(name.decode() if isinstance(name, bytes) else name)
def judge(message):
    results = []
    for index in range(asked['signatures']):
        try:
            results.append(dkim.DKIM(message).verify(index, dnsfunc=look_up))
        except dkim.DKIMException:
            results.append(False)
    return results
print(json.dumps([judge(base64.b64decode(message)) for message in asked['messages']]))
`;

/** Why dkimpy (Debian's python3-dkim and python3-nacl) cannot be asked on this machine; undefined when it can. */
export function whyNoDkimpy(): string | undefined {
  const { status } = spawnSync(PYTHON, ['-c', 'import dkim, nacl']);
  return status === 0 ? undefined : 'python3-dkim and python3-nacl are not installed';
}

/** Whether dkimpy finds each of so many signatures of each message good, from the top. */
export function dkimpyResults(messages: readonly Buffer[], zone: Zone, signatures: number): boolean[][] {
  const asked = { zone, signatures, messages: messages.map((message) => message.toString('base64')) };
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', SCRIPT], {
    input: JSON.stringify(asked),
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as boolean[][];
}
