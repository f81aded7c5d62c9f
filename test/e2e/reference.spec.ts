import { describe, expect, it } from '@jest/globals';
import type { Answer } from './api.ts';
import { Stack } from './stack.ts';

describe('the reference', () => {
  const stack = Stack.forTests({ sends: false });

  const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    stack.api().get(path, { key: null, headers });

  it('is available to everybody as a document, and is sent again only when it has changed', async () => {
    const first = await get('/openapi.json');
    expect([first.status, first.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    expect(first.body).toMatchObject({ openapi: '3.1.0', info: { title: 'Posthorn' } });
    const again = await get('/openapi.json', { 'If-None-Match': first.headers.get('etag')! });
    expect([again.status, again.text.length]).toEqual([304, 0]);
    expect((await get('/openapi.json', { 'If-None-Match': '"another"' })).status).toBe(200);
  });

  it('is a page that loads nothing from elsewhere and runs no script but its files', async () => {
    const page = await get('/docs');
    expect(page.text).toContain('<title>Posthorn: API reference</title>');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(page.text).not.toMatch(/https?:\/\/|<script>|onload=/);
    const files = [...page.text.matchAll(/(?:src|href)="(docs\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(files).toHaveLength(5);
    for (const path of files) {
      const file = await get(`/${path}`);
      expect([path, file.status, file.headers.get('cache-control')]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(file.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('shows valid bodies with each error, and links to further pages', async () => {
    const examplesOf = async (name: string) => {
      const { text } = await get(`/docs/errors/${name}`);
      const examples = [...text.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(
        ([, code]) =>
          JSON.parse(
            code!.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
          ) as Record<string, unknown>,
      );
      const links = [...text.matchAll(/href="([^"]+)"/g)].map(
        ([, link]) => new URL(link!, 'http://here/docs/errors/').pathname,
      );
      return { examples, links };
    };
    const payload = await examplesOf('invalid-payload');
    expect(payload.links).toEqual(['/docs', '/docs/errors']);
    const key = stack.tenant.keys.editor;
    const template = {
      name: 'order-receipt',
      from: 'a@example.com',
      subject: 'Order {{orderId}}',
      html: 'x',
    };
    await stack.api().post('/v1/templates', template, { key });
    for (const example of payload.examples)
      expect((await stack.api().post('/v1/emails', example)).status).toBe(200);
    const [domain] = (await examplesOf('unverified-sender')).examples;
    expect((await stack.api().post('/v1/identities', domain, { key })).status).toBe(200);
  });

  it.each(['/docs', '/docs/errors', '/docs/errors/invalid-payload'])(
    'redirects from %s/ to itself, where its relative links work',
    async (path) => {
      const answer = await fetch(`${stack.gateways[0]!.url}${path}/?x`, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([301, `../${path.split('/').at(-1)}`]);
    },
  );

  it('serves files under the name of another version uncached, and no foreign files', async () => {
    const other = await get('/docs/assets/0123456789ab/posthorn.css');
    expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store']);
    for (const name of ['index.html', 'package.json', '..%2f..%2fpackage.json', 'constructor']) {
      expect((await get(`/docs/assets/0123456789ab/${name}`)).status).toBe(404);
    }
  });

  it('lists the pages about errors, each of which exists', async () => {
    const list = await get('/docs/errors');
    const names = [...list.text.matchAll(/href="errors\/([^"]+)"/g)].map(([, name]) => name!);
    expect(names).toEqual(expect.arrayContaining(['invalid-payload', 'unverified-sender']));
    for (const name of names) expect((await get(`/docs/errors/${name}`)).status).toBe(200);
  });

  it.each(['/docs', '/docs/errors', '/docs/errors/invalid-payload'])(
    'prevents embedding %s, and forms or base URLs of other sites',
    async (path) => {
      const policy = (await get(path)).headers.get('content-security-policy');
      for (const part of ["frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"])
        expect(policy).toContain(part);
    },
  );
});
