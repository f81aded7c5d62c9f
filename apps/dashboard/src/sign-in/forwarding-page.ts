import type { Response } from 'express';
import { html } from '../pages/html.ts';
import { renderPage } from '../pages/page.ts';

/** What a {@link forwardingPage} shows, and where it leads. */
interface Forwarding {
  readonly title: string;
  readonly heading: string;
  readonly to: string;
}

/**
 * A page that leads on by itself. A redirect would still count as a request from the other site that led here, to which browsers do not add our
 * strict cookie.
 */
export function forwardingPage(response: Response, { title, heading, to }: Forwarding): string {
  const content = html`<div class="narrow">
    <h1>${heading}</h1>
    <p><a href="${to}">Continue</a></p>
  </div>`;
  const page = renderPage(response, { title, content });
  response.setHeader('Refresh', `0; url=${to}`);
  return page;
}
