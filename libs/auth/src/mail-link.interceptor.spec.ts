import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { setImmediate as settled } from 'node:timers/promises';
import { from, lastValueFrom } from 'rxjs';
import { MailLinkInterceptor } from './mail-link.interceptor.ts';
import type { RateLimits } from './rate-limits.ts';

/** Opens links from networks; `begun` has the names of the requests that are being answered. */
function scene() {
  const limits = { networkIdOf: ({ network }: { network: string }) => network };
  const interceptor = new MailLinkInterceptor(limits as unknown as RateLimits);
  const begun: string[] = [];
  const open = (network: string, name: string) => {
    const response = new EventEmitter();
    const http = { getRequest: () => ({ network }), getResponse: () => response };
    const context = { switchToHttp: () => http } as unknown as ExecutionContext;
    const page = Promise.withResolvers<string>();
    const handle = () => {
      begun.push(name);
      return from(page.promise);
    };
    const answer = lastValueFrom(interceptor.intercept(context, { handle }));
    return { answer, finish: () => page.resolve(name), disconnect: () => response.emit('close') };
  };
  return { begun, open };
}

describe('Requests for links in mails', () => {
  it('are answered two at a time for each network, also when callers disconnect', async () => {
    const { begun, open } = scene();
    const [first, second, third, fourth] = ['a1', 'a2', 'a3', 'a4'].map((name) => open('a', name));
    open('b', 'b1');
    await settled();
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    second!.disconnect();
    third!.disconnect();
    await expect(third!.answer).rejects.toMatchObject({ statusCode: 503 });
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    first!.finish();
    expect(await first!.answer).toBe('a1');
    await settled();
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a4']);
    fourth!.finish();
    expect(await fourth!.answer).toBe('a4');
  });

  it('are refused, with 503 and Retry-After, while too many of the network are waiting', async () => {
    const { open } = scene();
    for (let n = 0; n < 202; n += 1) open('a', `a${n}`);
    await expect(open('a', 'late').answer).rejects.toMatchObject({
      statusCode: 503,
      details: { retryAfterSeconds: 1 },
    });
    const other = open('b', 'b1');
    other.finish();
    expect(await other.answer).toBe('b1');
  });
});
