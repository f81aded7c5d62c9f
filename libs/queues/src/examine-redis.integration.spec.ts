import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PrivateRedis } from '@posthorn/testing';
import { examineRedis } from './index.ts';

describe('Examining Redis', () => {
  let redis: PrivateRedis;
  beforeAll(async () => {
    redis = await PrivateRedis.start();
  });
  afterAll(() => redis.close());

  const examineAs = (user: string): Promise<unknown> =>
    examineRedis({ url: redis.url.replace('://', `://${user}:pw@`), prefix: 'posthorn' });

  it('finds nothing amiss with a user that may do everything with our keys', async () => {
    await redis.ask('ACL SETUSER enough on >pw ~posthorn:* +@all');
    expect(await examineAs('enough')).toMatchObject({ facts: { role: 'master' } });
  });

  it.each([
    ['keys', 'on >pw ~other:* +@all', 'access one of the keys'],
    ['scripts', 'on >pw ~* +@all -eval', "run the 'eval' command"],
    ['commands', 'on >pw ~* +@all -zadd -bzpopmin', 'NOPERM ZADD, BZPOPMIN'],
    ['information', 'on >pw ~* +@all -info', "run the 'info' command"],
  ])('says what rights a user needs that may not use our %s', async (_what, rules, said) => {
    await redis.ask(`ACL SETUSER few reset ${rules}`);
    await expect(examineAs('few')).rejects.toThrow(said);
    await expect(examineAs('few')).rejects.toThrow(/: give it ~posthorn:\* and \+@all$/);
  });

  it('says what to see to when Redis hangs up because too many are connected', async () => {
    await redis.ask('CONFIG SET maxclients 1');
    const held = connect(redis.port, '127.0.0.1');
    held.on('error', () => undefined).write('PING\r\n');
    await once(held, 'data');
    const refused = examineRedis({ url: redis.url, prefix: 'posthorn' });
    await expect(refused).rejects.toThrow(/^Redis hangs up: write rediss:\/\/ .*; or raise maxclients/);
    held.destroy();
  });
});
