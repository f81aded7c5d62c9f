import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import type { LinkAtHost } from '@posthorn/database';
import { FollowLink } from './follow-link.ts';

const LINK = { emailId: newId('trs', 0), url: 'https://example.com/' };
const NAMED = 'links.shop.example';

/** Follows links that name a host, and look-ups that `admit` answers; with what was looked up and logged. */
function following(admit: (links: readonly LinkAtHost[]) => Promise<boolean[]>) {
  const lookUps: string[][] = [];
  const errors: unknown[] = [];
  const followed = new FollowLink({
    links: {
      linkWith: (token, host) => (token === 'ours' ? { ...LINK, namesHost: host === NAMED } : undefined),
    },
    hosts: {
      admit: (links) => {
        lookUps.push(links.map(({ host }) => host));
        return admit(links);
      },
    },
    trackingUrl: 'https://links.example.com:8443',
    onError: (error) => errors.push(error),
  });
  return { followed, lookUps, errors };
}

const refuse = (links: readonly LinkAtHost[]): Promise<boolean[]> => Promise.resolve(links.map(() => false));

describe('S17: following a link', () => {
  it.each([
    ['at the host that it names', NAMED],
    ['at that host, written otherwise', 'LINKS.shop.example.:443'],
    ['at the host of the installation', 'links.example.com'],
    ['without a host', undefined],
    ['at what is no host', '"'],
  ])('needs no look-up %s', async (_where, host) => {
    const { followed, lookUps } = following(refuse);
    expect(await followed.follow('ours', host)).toMatchObject(LINK);
    expect(lookUps).toEqual([]);
  });

  it('needs none if it is not valid', async () => {
    const { followed, lookUps } = following(refuse);
    expect(await followed.follow('x', 'links.bank.example')).toBeUndefined();
    expect(lookUps).toEqual([]);
  });

  it('is looked up at other hosts, together with what arrives at the same time', async () => {
    const { followed, lookUps } = following((links) =>
      Promise.resolve(links.map(({ host }) => host === 'gateway')),
    );
    const hosts = ['links.bank.example', 'gateway:3000'];
    const [refused, admitted] = await Promise.all(hosts.map((host) => followed.follow('ours', host)));
    expect(refused).toBeUndefined();
    expect(admitted).toMatchObject(LINK);
    expect(lookUps).toEqual([['links.bank.example', 'gateway']]);
  });

  it('works while the database is away, which is reported', async () => {
    const away = new Error('connect ECONNREFUSED');
    const { followed, errors } = following(() => Promise.reject(away));
    expect(await followed.follow('ours', 'links.bank.example')).toMatchObject(LINK);
    expect(errors).toEqual([away]);
  });

  it('works while the database hangs', async () => {
    const { followed } = following(() => new Promise(() => {}));
    expect(await followed.follow('ours', 'links.bank.example')).toMatchObject(LINK);
  });

  it('works at once while ten thousand look-ups hang, and adds none', async () => {
    const { followed } = following(() => new Promise(() => {}));
    const follow = (): Promise<object | undefined> => followed.follow('ours', 'links.bank.example');
    const waiting = Array.from({ length: 10_000 }, () => follow().then(() => 'waited'));
    expect(await Promise.race([...waiting, follow().then(() => 'did not wait')])).toBe('did not wait');
    await Promise.all(waiting);
  });
});
