import { type Id, parseId, Refusal } from '@posthorn/kernel';
import { type PageRequest, parseMailbox, parseOpaqueStart, parseTimeOrDay } from '@posthorn/domain';

const LONGEST = 1_000;
const PAGE_ROWS = 50;
/** As browsers give what was put into a field for date and time. */
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/;

/** The fields of a form, or the parameters of an address, as they came in. */
export class Given {
  private readonly fields: Readonly<Record<string, unknown>>;

  constructor(fields: unknown) {
    this.fields = (fields ?? {}) as Readonly<Record<string, unknown>>;
  }

  /** What was put in, without spaces around it; undefined: nothing. @throws Refusal (400) for what no field can have */
  text(name: string): string | undefined {
    const value = Object.hasOwn(this.fields, name) ? this.fields[name] : undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'string')
      throw new Refusal(400, `\`${name}\` is given more than once; give it once`);
    if (value.length > LONGEST) throw new Refusal(400, `\`${name}\` is longer than ${LONGEST} characters`);
    if (/\p{Cc}/u.test(value)) throw new Refusal(400, `\`${name}\` has a control character; take it out`);
    return value.trim() || undefined;
  }

  /** What a field is filled with again: nothing where it was given what no field can have. */
  shown(name: string): string | undefined {
    try {
      return this.text(name);
    } catch {
      return undefined;
    }
  }

  /** One of these words. @throws Refusal (400) for another one */
  word<Word extends string>(name: string, words: Readonly<Record<Word, unknown>>): Word | undefined {
    const value = this.text(name);
    if (value === undefined || Object.hasOwn(words, value)) return value as Word | undefined;
    throw new Refusal(400, `\`${name}\` is none of ${Object.keys(words).join(', ')}`);
  }

  /** An id with this prefix. @throws Refusal (400) for what is none */
  id<Prefix extends string>(name: string, prefix: Prefix): Id<Prefix> | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const id = parseId(prefix, value);
    if (id === undefined)
      throw new Refusal(400, `\`${name}\` is not an id; give \`${prefix}_\` and what follows it`);
    return id;
  }

  /** The address of a mailbox. @throws Refusal (400) for what is none */
  address(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const parsed = parseMailbox(value);
    if ('fault' in parsed) throw new Refusal(400, `\`${name}\` ${parsed.fault}`);
    return parsed.mailbox.address;
  }

  /** A time of UTC, or a day, which stands for its beginning. @throws Refusal (400) for what is none */
  moment(name: string): Date | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const parsed = parseTimeOrDay(inUtc(value));
    if ('fault' in parsed) throw new Refusal(400, `\`${name}\` ${parsed.fault}`);
    // No id is older than 1970, and none can stand for such a time.
    return new Date(Math.max(0, parsed.atMs));
  }

  /** Which page of a list, by ids with this prefix: the newest first. @throws Refusal (400) for a place that is none */
  page<Prefix extends string>(prefix: Prefix): PageRequest<Id<Prefix>> {
    const text = this.text('startAt');
    const startAt = text === undefined ? undefined : parseOpaqueStart(prefix, text);
    if (text !== undefined && startAt === undefined)
      throw new Refusal(400, '`startAt` is malformed; start the search again');
    return { limit: PAGE_ROWS, sort: 'createdAt.desc', startAt };
  }

  /** Between which times something was created: `after` and `before`. @throws Refusal (400) where no time is between them */
  times(): { createdAfter: Date | undefined; createdBefore: Date | undefined } {
    const [createdAfter, createdBefore] = [this.moment('after'), this.moment('before')];
    if (createdAfter !== undefined && createdBefore !== undefined && createdAfter >= createdBefore)
      throw new Refusal(400, '`before` is not later than `after`; give a later time, or leave one out');
    return { createdAfter, createdBefore };
  }
}

/** A time as a field for date and time gives it, which is meant in UTC; all others as they are. */
export function inUtc(text: string): string {
  return LOCAL_TIME.test(text) ? `${text}Z` : text;
}
