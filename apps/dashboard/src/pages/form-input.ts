import { type Id, parseId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type PageRequest, parseMailbox, parseOpaqueStart, parseTimeOrDay } from '@posthorn/domain';

const MAX_CHARACTERS = 1_000;
const PAGE_ROWS = 50;
/** The value of an `<input type="datetime-local">`. */
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/;

/** The untrusted fields of a form, or the parameters of a query; each method validates one of them. */
export class FormInput {
  private readonly fields: Readonly<Record<string, unknown>>;

  constructor(fields: unknown) {
    this.fields = (fields ?? {}) as Readonly<Record<string, unknown>>;
  }

  /** The trimmed value; undefined: absent or empty. @throws Refusal (400) when it is repeated, too long, or has control characters */
  text(name: string): string | undefined {
    const value = Object.hasOwn(this.fields, name) ? this.fields[name] : undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'string')
      throw new Refusal(400, `\`${name}\` is given more than once; give it once`);
    if (value.length > MAX_CHARACTERS)
      throw new Refusal(400, `\`${name}\` is longer than ${MAX_CHARACTERS} characters; shorten it`);
    if (/\p{Cc}/u.test(value)) throw new Refusal(400, `\`${name}\` has a control character; remove it`);
    return value.trim() || undefined;
  }

  /** The value to fill the field with again; undefined where {@link text} refuses it. */
  redisplay(name: string): string | undefined {
    try {
      return this.text(name);
    } catch {
      return undefined;
    }
  }

  /** One of these words. @throws Refusal (400) for any other */
  oneOf<Word extends string>(name: string, words: Readonly<Record<Word, unknown>>): Word | undefined {
    const value = this.text(name);
    if (value === undefined || Object.hasOwn(words, value)) return value as Word | undefined;
    throw new Refusal(400, `\`${name}\` is none of ${Object.keys(words).join(', ')}; give one of them`);
  }

  /** The id in `workspace`. @throws Refusal (400) for anything else */
  workspaceId(): WorkspaceId | undefined {
    const value = this.text('workspace');
    if (value === undefined) return undefined;
    const id = parseId('wrk', value);
    if (id === undefined) throw new Refusal(400, '`workspace` is not an id; give `wrk_` and what follows it');
    return id;
  }

  /** The address of a mailbox. @throws Refusal (400) for anything else */
  address(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const parsed = parseMailbox(value);
    if ('fault' in parsed) throw new Refusal(400, `\`${name}\` ${parsed.fault}`);
    return parsed.mailbox.address;
  }

  /** A time in UTC, or a day, which means its beginning. @throws Refusal (400) for anything else */
  time(name: string): Date | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const parsed = parseTimeOrDay(inUtc(value));
    if ('fault' in parsed) throw new Refusal(400, `\`${name}\` ${parsed.fault}`);
    // Times are compared with ids, which cannot represent a time before 1970.
    return new Date(Math.max(0, parsed.atMs));
  }

  /** The requested page of a list of ids with this prefix, the newest first. @throws Refusal (400) for a malformed `startAt` */
  pageRequest<Prefix extends string>(prefix: Prefix): PageRequest<Id<Prefix>> {
    const text = this.text('startAt');
    const startAt = text === undefined ? undefined : parseOpaqueStart(prefix, text);
    if (text !== undefined && startAt === undefined)
      throw new Refusal(400, '`startAt` is malformed; start the search again');
    return { limit: PAGE_ROWS, sort: 'createdAt.desc', startAt };
  }

  /** The range of creation times, from `after` and `before`. @throws Refusal (400) for an empty range */
  createdRange(): { createdAfter: Date | undefined; createdBefore: Date | undefined } {
    const [createdAfter, createdBefore] = [this.time('after'), this.time('before')];
    if (createdAfter !== undefined && createdBefore !== undefined && createdAfter >= createdBefore)
      throw new Refusal(400, '`before` is not later than `after`; give a later time, or leave one out');
    return { createdAfter, createdBefore };
  }
}

/** Marks the value of an `<input type="datetime-local">` as UTC; leaves any other text as it is. */
export function inUtc(text: string): string {
  return LOCAL_TIME.test(text) ? `${text}Z` : text;
}
