import { readFileSync } from 'node:fs';

const PARAGRAPH =
  '<p style="margin:0 0 16px;font:15px/1.5 Helvetica,Arial,sans-serif;color:#222">Thank you for your order. We have ' +
  'packed it and handed it to the carrier; the parcel should be with you within two working days.</p>';

const SHORT = `<!doctype html><html><body style="background:#f6f6f6;padding:24px"><h1>Your order is on its way</h1>${PARAGRAPH.repeat(
  6,
)}<p><a href="https://example.com/orders/4711">Follow the parcel</a></p></body></html>`;

/** Read from the environment, so that the baseline processes send the same HTML. */
const HTML = process.env.BENCH_HTML === undefined ? SHORT : readFileSync(process.env.BENCH_HTML, 'utf8');

const TEXT =
  'Your order is on its way\n\nThank you for your order. We have packed it and handed it to the carrier;\nthe parcel should be ' +
  'with you within two working days.\n\nFollow the parcel: https://example.com/orders/4711\n';

/** The email that everything is measured with: 1.5 kB of HTML (or BENCH_HTML) and a text. @param {string} to */
export function sampleEmail(to) {
  return {
    from: 'Example Shop <orders@example.com>',
    to,
    subject: 'Your order 4711 is on its way',
    html: HTML,
    text: TEXT,
  };
}
