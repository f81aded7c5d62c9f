import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './stack/runtime.mjs';

const FOLDER = join(ROOT, 'test', 'corpus', 'email-templates');

/** A subject for each mail; some contain characters that mail software often mishandles. @type {Record<string, string>} */
const SUBJECTS = {
  'comment-notification': 'Zoë commented on “Q3 – überarbeitet”',
  'dunning': 'Your payment of €29.00 failed',
  'example': 'Example 📨 of a mail',
  'invoice': 'Invoice № 2041 is due',
  'password-reset': 'Reset your password',
  'password-reset-help': 'Password help: 你好',
  'receipt': 'Receipt #88-3141: thank you!',
  'trial-expired': 'Your trial has expired',
  'trial-expiring': 'Three days are left of your trial',
  'user-invitation': 'Zoë Müller-Łukasiewicz invites you to Weiß & Söhne <Berlin>',
  'welcome':
    'Welcome, and one thing to do first, in a subject that is long enough to be folded over several lines of header',
};

/** Sample values; for other variables one is derived from the name. @type {Record<string, string>} */
const VALUES = {
  name: 'Zoë Müller-Łukasiewicz',
  commenter_name: 'Ólafur "Óli" Ragnarsson',
  invite_sender_name: 'Zoë Müller-Łukasiewicz',
  invite_sender_organization_name: 'Weiß & Söhne <Berlin>',
  body: 'Looks good: 1 < 2 && "quotes" – ship it.\n.\nFrom here on it is fine.',
  username: 'zoe.mueller',
  email_address: 'zoe@example.net',
  support_email: 'support@example.com',
  amount: '€14.50',
  total: '€29.00',
  value: '€29.00',
  description: 'Posthorn, one month',
  credit_card_brand: 'Visa',
  credit_card_last_four: '4242',
  invoice_id: '2041',
  receipt_id: '88-3141',
  operating_system: 'Linux',
  browser_name: 'Firefox',
  attachment_name: 'Übersicht.pdf',
  attachment_size: '214 KB',
  attachment_type: 'PDF',
  trial_length: '14',
  timestamp: '09:41',
};

const REPEATED = /\{\{#each [^}]*\}\}([^]*?)\{\{\/each\}\}/g;
const SECTION = /\{\{#(\w+)\}\}([^]*?)\{\{\/\1\}\}/g;
const PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/g;

/**
 * Fills a mustache template: lists get two entries, sections are shown, every placeholder gets a sample value.
 *
 * @param {string} template
 * @param {(value: string) => string} [escape] how a value is escaped in this kind of text
 */
export function fill(template, escape = String) {
  return template
    .replace(REPEATED, (_whole, entry) => entry + entry)
    .replace(SECTION, (_whole, _name, inside) => inside)
    .replace(PLACEHOLDER, (_whole, name) => escape(VALUES[name] ?? madeUp(name)));
}

function madeUp(name) {
  if (name.endsWith('_url')) return `https://app.example.com/${name.slice(0, -4)}?token=abc&from=mail`;
  if (name.endsWith('date')) return '21 November 2026';
  return name.replaceAll('_', ' ');
}

/** @param {string} value */
function escapeHtml(value) {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/**
 * The eleven real emails of the corpus, filled in.
 *
 * @returns {{ name: string, subject: string, html: string, text: string }[]}
 */
export function filledCorpus() {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => ({
    name,
    subject: SUBJECTS[name] ?? name,
    html: fill(readFileSync(join(FOLDER, name, 'content.html'), 'utf8'), escapeHtml),
    text: fill(readFileSync(join(FOLDER, name, 'content.txt'), 'utf8')),
  }));
}
