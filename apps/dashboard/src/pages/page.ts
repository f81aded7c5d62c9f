import type { IncomingMessage, ServerResponse } from 'node:http';
import { accountOf } from '../sign-in/session-guard.ts';
import { html, Html } from './html.ts';
import { refreshAfter } from './refresh.ts';

/** No scripts, nothing loaded from other hosts; forms and frames, including links inside frames, lead only to this origin. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src 'self'";

const STYLE = new Html(`
:root{color-scheme:light dark;--line:light-dark(#d5d9e0,#3a4150);--edge:light-dark(#808895,#7c8799);--quiet:light-dark(#5a6372,#a3adbd);--card:light-dark(#fff,#1b2029);--accent:light-dark(#0b57d0,#8ab4f8);--bad:light-dark(#b3261e,#f2b8b5)}
*{box-sizing:border-box}
body{margin:0;font:16px/1.5 system-ui,sans-serif;background:light-dark(#f5f6f8,#12151b)}
a{color:var(--accent)}
header{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;padding:.75rem 1.25rem;border-bottom:1px solid var(--line);background:var(--card)}
header strong{margin-right:.5rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:1.25rem;padding:.25rem .5rem;background:var(--card)}
header form{margin-left:auto;display:flex;gap:.75rem;align-items:center;color:var(--quiet)}
main{max-width:72rem;margin:0 auto;padding:1.25rem}
p{overflow-wrap:anywhere}h1{font-size:1.5rem;overflow-wrap:anywhere;margin:.25rem 0 1rem}h2{font-size:1.1rem;margin:1.75rem 0 .5rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.75rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem}
.card b{display:block;font-size:1.6rem;font-weight:600;line-height:1.3}
.card span,.quiet{color:var(--quiet)}
.bad{color:var(--bad)}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
table{border-collapse:collapse;width:100%}progress{width:5rem}th,td{text-align:left;padding:.5rem .75rem;border-bottom:1px solid var(--line);white-space:nowrap}
tr:last-child td{border-bottom:0}td.n a{display:inline-block;min-width:1.5rem;line-height:1.5rem}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
figcaption b.bad{display:inline;font-size:inherit}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:.75rem}
svg{display:block;width:100%;height:9rem}svg .a{fill:var(--accent)}svg .b{fill:var(--bad)}
.axis{display:flex;justify-content:space-between;font-size:.8rem}
label{display:block;margin:.75rem 0 .25rem}
input,select,textarea{font:inherit;width:100%;color:inherit;background:light-dark(#fff,#12151b);padding:.5rem .6rem;border:1px solid var(--edge);border-radius:.375rem}
button{font:inherit;padding:.45rem 1rem;border:1px solid var(--edge);border-radius:.375rem;cursor:pointer}
nav a{display:inline-block;padding:.25rem 0;margin-right:1rem}nav a[aria-current]{color:inherit;text-decoration:none;font-weight:600}
.search{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:0 .75rem;align-items:end}
.search button,.search input,.search select{height:2.6rem}.search button{margin-top:.75rem}
.done{border-left:4px solid var(--accent);padding:.5rem .75rem;background:var(--card)}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.25rem 1rem;margin:0}dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}
dl.card b{display:inline;font-size:inherit}
pre{margin:0;padding:.75rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem}
td.wrap{white-space:normal;overflow-wrap:anywhere;min-width:16rem}
td.name{white-space:normal;overflow-wrap:anywhere;min-width:9rem}
@media(max-width:60rem){
.scroll:has(.wrap,.first) :is(table,tbody,td){display:block}
.scroll:has(.wrap,.first) thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.scroll:has(.wrap,.first) tr{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .75rem;padding:.6rem .75rem;border-bottom:1px solid var(--line)}
.scroll:has(.wrap,.first) tr:last-child{border-bottom:0}
.scroll:has(.wrap,.first) td{padding:0;border:0;min-width:0;text-align:left;white-space:normal;overflow-wrap:anywhere;font-size:.875rem}
.scroll:has(.wrap,.first) td:empty{display:none}
.scroll:has(.wrap,.first) td.wrap{flex:0 0 100%}
.scroll:has(.wrap,.first) td.first{order:-1;flex:0 0 100%;font-size:inherit}
td[data-label]::before{content:attr(data-label) ' ';color:var(--quiet)}
}
details{margin-bottom:.75rem}summary{cursor:pointer}
.search details{margin:.75rem 0 0}
@supports selector(::details-content){@media(min-width:30rem){.search details,.search details::details-content{display:contents}.search summary{display:none}}}
.cut{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}
iframe{display:block;width:100%;height:30rem;border:1px solid var(--line);border-radius:.5rem;background:#fff}
.acts{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:.75rem}.acts button{margin-top:.75rem}
.narrow{max-width:24rem;margin:12vh auto;background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:1.5rem}
.narrow button{margin-top:1rem;width:100%}
:focus-visible:not(main){outline:3px solid var(--accent);outline-offset:2px}
`);

/** The sections of the dashboard and their paths. */
const SECTIONS = {
  'Overview': '/',
  'Emails': '/emails',
  'Workspaces': '/workspaces',
  'Suppressions': '/suppressions',
  'Webhooks': '/webhooks',
  'Retries': '/retries',
  'Pauses': '/pauses',
  'Queues': '/queues',
  'Audit log': '/audit',
} as const;

type SectionName = keyof typeof SECTIONS;

export interface Page {
  readonly title: string;
  readonly content: Html;
  /** Its section, which needs a session; absent: none, and the page is shown without navigation. */
  readonly section?: SectionName;
  /** After how many seconds the page reloads itself. */
  readonly refreshSeconds?: number | undefined;
}

/** Renders a page and sets its response headers. */
export function renderPage(
  response: ServerResponse,
  { title, content, section, refreshSeconds }: Page,
): string {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Security-Policy', POLICY);
  response.setHeader('X-Robots-Tag', 'noindex, nofollow');
  if (refreshSeconds !== undefined) refreshAfter(refreshSeconds, response);
  return html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <link rel="icon" href="data:," />
      <title>${title} – Posthorn</title>
      <style>
        ${STYLE}
      </style>
      ${section === undefined ? '' : navigation(section, response.req)}
      <main id="main" tabindex="-1">${content}</main>
    </html>`.text;
}

function navigation(section: SectionName, request: IncomingMessage): Html {
  const { name, role } = accountOf(request);
  const link = ([title, path]: [string, string]): Html =>
    title === section
      ? html`<a href="${path}" aria-current="page">${title}</a>`
      : html`<a href="${path}">${title}</a>`;
  return html`<header>
    <a class="skip" href="#main">To the content</a>
    <strong>Posthorn</strong>
    <nav aria-label="Parts">${Object.entries(SECTIONS).map(link)}</nav>
    <form method="post" action="/sign-out"><span>${name} (${role})</span><button>Sign out</button></form>
  </header>`;
}
