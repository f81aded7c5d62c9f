import { describe, expect, it } from '@jest/globals';
import type { Response } from 'express';
import { landingPage } from './landing-page.ts';

function rendered(page: Parameters<typeof landingPage>[1]): { html: string; headers: Map<string, string> } {
  const headers = new Map<string, string>();
  const response = { setHeader: (name: string, value: string) => headers.set(name, value) };
  return { html: landingPage(response as unknown as Response, page), headers };
}

describe('A landing page', () => {
  it('escapes all texts', () => {
    const hostile = `</title><script>alert("x")</script>'&`;
    const { html } = rendered({ title: hostile, paragraphs: [hostile], button: hostile });
    expect(html).not.toContain('<script');
    expect(html.match(/&lt;script&gt;alert\(&quot;x&quot;\)&lt;\/script&gt;&#39;&amp;/g)).toHaveLength(4);
  });

  it('has a button that posts to its own URL or to another, or no button', () => {
    expect(rendered({ title: 'A', paragraphs: [], button: 'Go' }).html).toContain(
      '<form method="post"><button>Go</button></form>',
    );
    expect(rendered({ title: 'A', paragraphs: [], button: 'Go', postsTo: 'a/"b' }).html).toContain(
      '<form method="post" action="a/&quot;b"><button>Go</button></form>',
    );
    expect(rendered({ title: 'A', paragraphs: ['b'] }).html).not.toContain('<form');
  });

  it('has no scripts, loads nothing, and cannot be embedded or indexed', () => {
    const { headers } = rendered({ title: 'A', paragraphs: [] });
    expect(headers.get('Content-Security-Policy')).toMatch(
      /^default-src 'none';.*form-action 'self'.*frame-ancestors 'none'/,
    );
    expect(headers.get('X-Robots-Tag')).toBe('noindex, nofollow');
  });
});
