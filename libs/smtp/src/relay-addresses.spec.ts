import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { sleep, within } from '@posthorn/kernel';
import { AddressSearch, type LookUp, RelayAddresses } from './relay-addresses.ts';

const PATIENCE_MS = 100;
const absent = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND relay.example'), { code: 'ENOTFOUND' }));
const unknown = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('getaddrinfo EAI_AGAIN relay.example'), { code: 'EAI_AGAIN' }));
const silent = (): Promise<never> => new Promise(() => undefined);
const at =
  (...addresses: string[]) =>
  (): Promise<string[]> =>
    Promise.resolve(addresses);

/** Addresses at a name of which name servers say one thing after the other. */
function addressesOf(...said: LookUp[]): RelayAddresses {
  const lookUp: LookUp = (host) => said.shift()!(host);
  return new RelayAddresses('relay.example', { waitTimeoutMs: PATIENCE_MS, freshMs: 0, lookUp });
}

describe('The addresses of a relay', () => {
  it('is asked for again', async () => {
    const addresses = addressesOf(at('192.0.2.1'), at('192.0.2.2', '192.0.2.3'));
    expect(await addresses.find()).toEqual(['192.0.2.1']);
    expect(await addresses.find()).toEqual(['192.0.2.2', '192.0.2.3']);
  });

  it('are looked up once for concurrent callers', async () => {
    const addresses = addressesOf(() => sleep(20).then(at('192.0.2.1')));
    expect(await Promise.all([addresses.find(), addresses.find()])).toEqual([['192.0.2.1'], ['192.0.2.1']]);
  });

  it('are not looked up while they are fresh, whether the look-up succeeded or not', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    let asked = 0;
    const lookUp = (): Promise<readonly string[]> => ((asked += 1) === 1 ? at('192.0.2.1')() : silent());
    const addresses = new RelayAddresses('relay.example', {
      waitTimeoutMs: PATIENCE_MS,
      freshMs: 500,
      lookUp,
    });
    await addresses.find();
    await addresses.find();
    expect(asked).toBe(1);
    clock.mockReturnValue(500);
    await addresses.find();
    let isOver = false;
    void addresses.find().then(() => (isOver = true));
    // No timer can have come.
    await nextTurn();
    expect(isOver).toBe(true);
    expect(asked).toBe(2);
    clock.mockRestore();
  });

  it('stay as they were while name servers fail or do not answer', async () => {
    const addresses = addressesOf(at('192.0.2.1'), unknown, silent);
    for (const _each of ['told', 'not known', 'silence'])
      expect(await addresses.find()).toEqual(['192.0.2.1']);
  });

  it('are dropped when the name does not exist, and are not restored after that', async () => {
    const addresses = addressesOf(at('192.0.2.1'), absent, unknown);
    await addresses.find();
    await expect(addresses.find()).rejects.toThrow('ENOTFOUND');
    await expect(addresses.find()).rejects.toThrow('EAI_AGAIN');
  });

  it('are looked up again at once when there were none', async () => {
    const answers = [absent, at('192.0.2.1')];
    const lookUp = (): Promise<readonly string[]> => answers.shift()!();
    const addresses = new RelayAddresses('relay.example', {
      waitTimeoutMs: PATIENCE_MS,
      freshMs: 60_000,
      lookUp,
    });
    await expect(addresses.find()).rejects.toThrow('ENOTFOUND');
    expect(await addresses.find()).toEqual(['192.0.2.1']);
  });

  it('are waited for longer than two seconds only when none are known', async () => {
    const answers = [(): Promise<string[]> => sleep(2_200).then(at('192.0.2.1')), silent];
    const lookUp = (): Promise<readonly string[]> => answers.shift()!();
    const addresses = new RelayAddresses('relay.example', { waitTimeoutMs: 60_000, freshMs: 0, lookUp });
    expect(await addresses.find()).toEqual(['192.0.2.1']);
    expect(await within(addresses.find(), 30_000)).toEqual(['192.0.2.1']);
  });

  it('are not waited for indefinitely when none are known', async () => {
    await expect(addressesOf(silent).find()).rejects.toThrow(
      'no name server answered about relay.example within 100 ms',
    );
  });

  it('that failed are avoided after another look-up too', async () => {
    const addresses = addressesOf(at('192.0.2.1', '192.0.2.2'), at('192.0.2.1', '192.0.2.2'));
    await addresses.find();
    addresses.avoid('192.0.2.1');
    const left = (await addresses.find()).filter((address) => !addresses.isAvoided(address));
    expect(left).toEqual(['192.0.2.2']);
  });
});

describe('The addresses that are tried for a connection', () => {
  const [ONE, TWO] = ['192.0.2.1', '192.0.2.2'];
  const searchOf = (...known: string[]): AddressSearch => new AddressSearch(addressesOf(at(...known)));

  it('are all of them; if none was reached, no other is left', async () => {
    const search = searchOf(ONE, TWO);
    expect(await search.find()).toEqual([ONE, TWO]);
    expect(search.failedAt(undefined)).toBe(false);
  });

  it('are the others after one was reached and failed', async () => {
    const search = searchOf(ONE, TWO);
    await search.find();
    expect(search.failedAt(ONE)).toBe(true);
    expect(await search.find()).toEqual([TWO]);
    expect(search.failedAt(TWO)).toBe(false);
  });

  it('come last if they failed for a connection before', async () => {
    const search = searchOf(ONE, TWO);
    search.noteFailed([ONE]);
    expect(await search.find()).toEqual([TWO]);
    expect(search.failedAt(undefined)).toBe(true);
    expect(await search.find()).toEqual([ONE]);
  });

  it('are all of them if each has failed: a relay that was away is tried as soon as its breaker allows', async () => {
    const search = searchOf(ONE, TWO);
    search.noteFailed([ONE, TWO]);
    expect(await search.find()).toEqual([ONE, TWO]);
  });
});
