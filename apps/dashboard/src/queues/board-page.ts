import { html } from '../pages/html.ts';

/** Bull Board's page would load fonts from other hosts. */
const EXTERNAL_LINKS = /<link\b[^>]*\bhref="https?:[^>]*>/g;

/** The first element of the page's body. */
const ROOT_ELEMENT = '<div id="root">';

/** A bar above Bull Board's header. The rest of the page begins at `--header-offset`, which is increased by the bar's height. */
const BACK_LINK = html`<style>
    body {
      --way-back: 2.25rem;
      --header-offset: calc(var(--header-height) + var(--way-back)) !important;
    }
    .way-back {
      position: fixed;
      inset: 0 0 auto;
      z-index: 100;
      box-sizing: border-box;
      height: var(--way-back);
      padding: 0.5rem 1.25rem;
      border-bottom: 1px solid var(--border);
      background: var(--card);
    }
    .way-back a {
      color: var(--primary);
    }
    #root header:has(~ main) {
      padding-top: var(--way-back);
    }
    #root header:has(~ main) > a {
      height: auto;
    }
  </style>
  <nav class="way-back" aria-label="Dashboard"><a href="/">← Dashboard</a></nav>
  <noscript
    ><style>
      #root {
        display: none;
      }
      p {
        padding: 3.5rem 1.25rem;
      }
    </style>
    <p>The queues need JavaScript; <a href="/">the overview</a> shows how much work waits.</p></noscript
  >`;

/** Removes requests to other hosts from Bull Board's page, and adds a link back to the dashboard. */
export function embedInDashboard(page: string): string {
  return page.replaceAll(EXTERNAL_LINKS, '').replace(ROOT_ELEMENT, BACK_LINK.text + ROOT_ELEMENT);
}
