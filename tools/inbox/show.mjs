import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { isIP } from 'node:net';
import { readHtml, readMail } from './read-mail.mjs';

const PAGE = new URL('./page/', import.meta.url);
const HTML = 'text/html; charset=utf-8';

/** The page itself loads nothing from anywhere else and runs no inline code. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A mail's HTML is untrusted: no scripts, nothing from the network, an opaque origin. */
const MAIL_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; " +
  "form-action 'none'; frame-ancestors 'self'";

const FILES = new Map([
  ['/', { name: 'index.html', type: HTML }],
  ['/inbox.css', { name: 'inbox.css', type: 'text/css; charset=utf-8' }],
  ['/inbox.js', { name: 'inbox.js', type: 'text/javascript; charset=utf-8' }],
]);

const LARGEST_LIST = 1_000;

const ASKED_FOR_ANOTHER = {
  message: 'The inbox is shown at localhost and at addresses; ask for it by one of them',
};

/** @typedef {{ status?: number, type?: string, policy?: string, body: string | Buffer }} Answer */

/**
 * The HTTP server: the page, and the API for scripts and tests.
 *
 * @param {import('./mailbox.mjs').Mailbox} mailbox
 */
export function createShow(mailbox) {
  /** @type {Set<import('node:http').ServerResponse>} */
  const watchers = new Set();
  mailbox.on('change', () => watchers.forEach((watcher) => watcher.write('data: change\n\n')));
  return createServer((request, response) => {
    if (!isForThisMachine(request.headers.host)) return send(response, json(ASKED_FOR_ANOTHER, 421));
    const url = URL.parse(request.url ?? '/', 'http://inbox');
    if (url === null) return send(response, json({ message: 'Not found' }, 404));
    if (url.pathname === '/api/changes') return watch(response, watchers);
    void answer(mailbox, request.method ?? 'GET', url)
      .catch((error) => json({ message: error.message }, 500))
      .then((result) => send(response, result));
  });
}

/**
 * Whether the host is an IP address or localhost. Otherwise a malicious page in the user's browser could make its own name resolve to
 * 127.0.0.1 (DNS rebinding), and read all mails, with the sign-in links in them.
 *
 * @param {string | undefined} host the header, which every browser sends
 */
function isForThisMachine(host) {
  if (host === undefined) return true;
  const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return isIP(name) !== 0 || /^(?:.+\.)?localhost$/.test(name);
}

/** Server-sent events: one line for each change, after which the page asks for the list again. */
function watch(response, watchers) {
  response
    .writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    .write(': welcome\n\n');
  watchers.add(response);
  response.once('close', () => watchers.delete(response));
}

/** @param {import('node:http').ServerResponse} response @param {Answer} answer */
function send(
  response,
  { status = 200, type = 'application/json; charset=utf-8', policy = PAGE_POLICY, body },
) {
  response.writeHead(status, {
    'content-type': type,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  response.end(body);
}

/** @returns {Answer} */
function json(value, status = 200) {
  return { status, body: JSON.stringify(value) };
}

/** @returns {Promise<Answer>} */
async function answer(mailbox, method, url) {
  const [, api, messages, id, part] = url.pathname.split('/');
  if (api === 'api' && messages === 'messages') {
    if (method === 'DELETE' && id === undefined) return mailbox.clear().then(() => json({ deleted: true }));
    if (method !== 'GET') return json({ message: `${method} is not allowed here` }, 405);
    return id === undefined ? json(mailbox.list(query(url))) : showOne(mailbox, id, part);
  }
  if (url.pathname === '/health') return json({ status: 'ok', messages: mailbox.size });
  const file = FILES.get(url.pathname);
  if (file === undefined) return json({ message: 'Not found' }, 404);
  return { type: file.type, body: readFileSync(new URL(file.name, PAGE)) };
}

function query(url) {
  const text = (name) => url.searchParams.get(name) ?? '';
  const limit = Math.min(Math.max(Math.trunc(Number(text('limit') || 100)), 1) || 100, LARGEST_LIST);
  return { limit, to: text('to'), subject: text('subject'), search: text('search') };
}

/** @returns {Promise<Answer>} */
async function showOne(mailbox, id, part) {
  const mail = mailbox.find(id);
  if (mail === undefined) return json({ message: 'There is no such mail' }, 404);
  const source = await mailbox.source(id);
  if (part === undefined) return json({ ...mail, ...(await readMail(source)) });
  if (part === 'source') return { type: 'message/rfc822', body: source };
  if (part === 'html') return { type: HTML, policy: MAIL_POLICY, body: await readHtml(source) };
  return json({ message: 'Not found' }, 404);
}
