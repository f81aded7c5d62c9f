import { EventEmitter } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readHeaders } from './read-mail.mjs';

/**
 * What is remembered of a mail, beside its bytes.
 *
 * @typedef {object} MailSummary
 * @property {string} id sorts by the time of arrival
 * @property {string} receivedAt ISO 8601
 * @property {{ from: string, to: string[], helo?: string }} envelope what the sender said over SMTP
 * @property {string} from as the header shows it
 * @property {string} to as the header shows it
 * @property {string} subject
 * @property {number} size in bytes
 */

/** With more mails than this, the oldest ones are removed. */
const KEPT_MAILS = 10_000;

/** Stores mails in a folder, in two files each: the original bytes (`.eml`) and a summary (`.json`). */
export class Mailbox extends EventEmitter {
  #directory;
  #limit;
  /** Oldest first. @type {Map<string, MailSummary>} */
  #mails = new Map();
  #lastMs = 0;
  #sequence = 0;

  /** @param {string} directory @param {{ limit?: number }} [options] */
  constructor(directory, { limit = KEPT_MAILS } = {}) {
    super();
    this.#directory = directory;
    this.#limit = limit;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#load();
  }

  #load() {
    const names = new Set(readdirSync(this.#directory));
    for (const name of [...names].sort()) {
      const id = name.replace(/\.(json|eml)$/, '');
      // The .json is written last: an .eml without one was never acknowledged to its sender.
      if (!names.has(`${id}.json`) || !names.has(`${id}.eml`))
        rmSync(join(this.#directory, name), { force: true });
      else if (name.endsWith('.json')) this.#remember(id);
    }
  }

  #remember(id) {
    try {
      this.#mails.set(id, JSON.parse(readFileSync(this.#path(id, 'json'), 'utf8')));
    } catch {
      // An incomplete file, as after a power failure.
      for (const kind of ['json', 'eml']) rmSync(this.#path(id, kind), { force: true });
    }
  }

  #path(id, kind) {
    return join(this.#directory, `${id}.${kind}`);
  }

  /** Ids of the same millisecond have a counter, so that they sort in order of arrival. */
  #newId(nowMs) {
    this.#sequence = nowMs <= this.#lastMs ? this.#sequence + 1 : 0;
    this.#lastMs = Math.max(nowMs, this.#lastMs);
    return `${String(this.#lastMs).padStart(14, '0')}-${String(this.#sequence).padStart(5, '0')}`;
  }

  /**
   * Stores a mail; once this resolves, it is on the disk.
   *
   * @param {MailSummary['envelope']} envelope
   * @param {Buffer} source
   * @returns {Promise<MailSummary>}
   */
  async keep(envelope, source) {
    const nowMs = Date.now();
    const headers = await readHeaders(source);
    const id = this.#newId(nowMs);
    const mail = { id, receivedAt: new Date(nowMs).toISOString(), envelope, ...headers, size: source.length };
    await writeFile(this.#path(id, 'eml'), source);
    await writeFile(this.#path(id, 'json'), JSON.stringify(mail));
    this.#mails.set(id, mail);
    await this.#dropOldest();
    this.emit('change');
    return mail;
  }

  async #dropOldest() {
    const oldestFirst = this.#mails.keys();
    while (this.#mails.size > this.#limit) await this.#drop([oldestFirst.next().value]);
  }

  async #drop(ids) {
    for (const id of ids) this.#mails.delete(id);
    for (const id of ids) {
      await rm(this.#path(id, 'json'), { force: true });
      await rm(this.#path(id, 'eml'), { force: true });
    }
  }

  get size() {
    return this.#mails.size;
  }

  /**
   * The newest first.
   *
   * @param {{ limit?: number, to?: string, subject?: string, search?: string }} [wanted] parts of words, in any case
   * @returns {{ messages: MailSummary[], matching: number, total: number }}
   */
  list({ limit = 100, to = '', subject = '', search = '' } = {}) {
    const isIn = (part, text) => part === '' || text.toLowerCase().includes(part.toLowerCase());
    const matching = [...this.#mails.values()].filter(
      (mail) =>
        isIn(to, mail.envelope.to.join(' ')) &&
        isIn(subject, mail.subject) &&
        isIn(
          search,
          `${mail.subject} ${mail.from} ${mail.to} ${mail.envelope.from} ${mail.envelope.to.join(' ')}`,
        ),
    );
    return {
      messages: matching.reverse().slice(0, limit),
      matching: matching.length,
      total: this.#mails.size,
    };
  }

  /** @param {string} id @returns {MailSummary | undefined} */
  find(id) {
    return this.#mails.get(id);
  }

  /** The original bytes. @param {string} id one that `find` knows */
  source(id) {
    return readFile(this.#path(id, 'eml'));
  }

  async clear() {
    await this.#drop([...this.#mails.keys()]);
    this.emit('change');
  }
}
