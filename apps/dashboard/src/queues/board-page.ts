import { html } from '../pages/html.ts';

/** What the page of Bull Board would load from other hosts: fonts. */
const FROM_ELSEWHERE = /<link\b[^>]*\bhref="https?:[^>]*>/g;

/** What the page begins with. */
const ROOT = '<div id="root">';

/** Lies on the header of Bull Board, which is made higher by as much; all else of the page begins below `--header-offset`. */
const WAY_BACK = html`<style>
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
  <nav class="way-back"><a href="/">← Dashboard</a></nav>`;

/** The page of Bull Board as one of the dashboard: it asks no other host for anything, and leads back. */
export function asPartOfDashboard(page: string): string {
  return page.replaceAll(FROM_ELSEWHERE, '').replace(ROOT, WAY_BACK.text + ROOT);
}
