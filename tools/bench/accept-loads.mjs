import { sampleEmail } from './sample-email.mjs';

const BATCH_SIZE = 50;
/** Contacts are reused, so most requests find theirs. */
const CONTACTS = 1_000;

/** A placeholder in a body for the number of the request, so that a request is a copy with eight digits replaced; see `numbers`. */
export const NUMBER = 'NNNNNNNN';
/** The same, but these numbers are never reused. */
export const SERIAL = 'SSSSSSSS';

/**
 * One kind of load: what is posted, over how many connections, and over how many the echo is loaded for comparison.
 *
 * @typedef {object} AcceptLoad
 * @property {string} id of GOALS
 * @property {string} path
 * @property {number} connections
 * @property {number} echoConnections
 * @property {number} emails per request
 * @property {object} body with NUMBER or SERIAL where the requests differ
 * @property {number} [numbers] NUMBER starts again after this many requests; by default never
 */

const single = sampleEmail(`ada-${NUMBER}@example.net`);

const one = { path: '/v1/emails', connections: 32, echoConnections: 32, emails: 1 };

/** @type {readonly AcceptLoad[]} */
export const ACCEPT_LOADS = [
  { ...one, id: 'accept-1', connections: 1, echoConnections: 1, body: single },
  { ...one, id: 'accept-32', body: single },
  { ...one, id: 'accept-128', connections: 128, echoConnections: 128, body: single },
  { ...one, id: 'idempotent-32', body: { ...single, idempotencyKey: `order-${NUMBER}` } },
  {
    ...one,
    id: 'contacts-32',
    body: { ...single, contactProperties: { firstName: 'Ada', lastOrder: SERIAL, plan: 'pro' } },
    numbers: CONTACTS,
  },
  {
    ...one,
    id: 'templated-32',
    body: {
      template: 'shipped',
      to: `ada-${NUMBER}@example.net`,
      variables: { name: 'Ada', order: { number: NUMBER, url: 'https://example.com/orders/4711' } },
    },
  },
  {
    ...one,
    id: 'batch-8',
    path: '/v1/emails/batch',
    connections: 8,
    emails: BATCH_SIZE,
    body: {
      emails: Array.from({ length: BATCH_SIZE }, (_, item) =>
        sampleEmail(`ada-${NUMBER}-${item}@example.net`),
      ),
    },
  },
];

/** The template of the load `templated-32`, about as large as the raw email. */
export function shippedTemplate() {
  const { from, html, text } = sampleEmail('');
  // The literal braces of the raw email are escaped, so that the template renders them unchanged.
  const filled = (body) =>
    body.replaceAll('{{', '\\{{').replaceAll('https://example.com/orders/4711', '{{order.url}}');
  return {
    name: 'shipped',
    from,
    subject: 'Your order {{order.number}} is on its way, {{name}}',
    html: filled(html),
    text: filled(text),
  };
}
