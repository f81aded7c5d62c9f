import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from './api.ts';
import { bodiesOf, call, type DescribedRoute, ROUTES } from './openapi-routes.ts';
import { rateIn } from './rates.ts';
import { Stack, type Tenant } from './stack.ts';

const AT_ONCE = 4;
const KEYED = ROUTES.filter(({ security }) => security.length > 0);

describe('the routes of /v1', () => {
  const stack = Stack.forTests({
    sends: false,
    env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '1' },
  });
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await stack.createTenant('Busy');
  });

  const ask = (route: DescribedRoute): Promise<Answer> => {
    const [, body] = bodiesOf(route)[0] ?? [];
    const api = stack.apiAs(tenant.keys.editor);
    return call(route, { stack, api, tenant }, { workspace_id: tenant.workspaceId }, body);
  };

  it.each(KEYED.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'R1, R2: %s is limited like all others',
    async (_name, route) => {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(route)));
      const refused = answers.filter(({ status }) => status === 429);
      // One request a second is allowed; on a busy machine some may take that long.
      expect(refused.length).toBeGreaterThan(0);
      for (const answer of refused) {
        expect(answer.headers.get('retry-after')).toBe('1');
        expect(rateIn(answer)).toMatchObject({ policy: 'key', quota: 1, window: 1, remaining: 0 });
      }
    },
  );
});
