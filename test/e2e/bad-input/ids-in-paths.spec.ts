import { describe, it } from '@jest/globals';
import { type Case, shown } from './cases.ts';
import { idsOfNothing, idsOfOtherThings, noIds } from './faults/ids.ts';
import { expectRefusal } from './refusal.ts';
import { atLeastForty, RefusingStack } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

const WEBHOOK = { id: 'webhook_id', prefix: 'wh', noun: 'webhook' };

/** Every route with an id, what would otherwise be right with it, and what a 404 calls the thing. */
const ROUTES: readonly { route: string; id: string; prefix: string; noun: string; body?: object }[] = [
  { route: 'GET /v1/emails/{email_id}', id: 'email_id', prefix: 'trs', noun: 'email' },
  { route: 'GET /v1/webhooks/{webhook_id}', ...WEBHOOK },
  { route: 'POST /v1/webhooks/{webhook_id}', ...WEBHOOK, body: { status: 'PAUSED' } },
  { route: 'DELETE /v1/webhooks/{webhook_id}', ...WEBHOOK },
];

describe('G3, G8: an id that is none, of nothing, or of something else', () => {
  for (const { route, id, prefix, noun, body } of ROUTES) {
    const ids = [...noIds(prefix), ...idsOfNothing(prefix), ...idsOfOtherThings(prefix)];
    const cases = ids.map((value): Case => ({
      what: shown(value),
      ...{ route, path: { [id]: value }, body, status: 404 },
      names: `There is no ${noun} with this id in this workspace`,
    }));
    it.each(atLeastForty(cases))('%s', refuses);
  }
});

describe('G2: an id that is no text', () => {
  const wrong = ['%', '%zz', '%c3%28', '%e0%a4%a', '%ff', 'trs_%c0%80', '%ed%a0%80', '%f4%90%80%80'];
  it.each(ROUTES.flatMap(({ route, id }) => wrong.map((value) => [route, value, id])))(
    '%s: %s',
    async (route, value, id) => {
      const [method, path] = route.split(' ') as [string, string];
      const { stack } = refusing;
      const answer = await stack
        .api()
        .raw([
          `${method} ${path.replace(`{${id}}`, value)} HTTP/1.1`,
          ...['Host: x', 'Connection: close', `Authorization: Bearer ${stack.tenant.keys.editor}`],
        ]);
      expectRefusal(answer, 400, /./);
    },
  );
});
