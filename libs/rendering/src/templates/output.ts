import type { PartName } from './template-parts.ts';

// As in `SIZES` of the domain, which this lib may not import: `message-sizes.spec.ts` of libs/use-cases compares them.
const MAX_BYTES = 5 * 1_048_576;
const MAX_SUBJECT_CHARACTERS = 998;
const MAX_PREVIEW_CHARACTERS = 1_000;

/** Maximum length of any text during rendering: a longer one has too many bytes, too. */
export const MAX_CHARACTERS = MAX_BYTES;

/** A rendered part, or an intermediate result, is too large. */
export class OutputTooLarge extends Error {
  /** @param message the rest of a sentence that begins with the name of the part */
  constructor(message = `becomes more than ${MAX_CHARACTERS} characters`) {
    super(message);
    this.name = 'OutputTooLarge';
  }
}

/** Maximum iterations of all loops of one rendering: several times the number of items that fit into the variables of an email. */
const MAX_ITERATIONS = 500_000;

/** Counts the output and the iterations of one rendering, so that it fails long before its thread is killed. */
export class Output {
  private charactersLeft = MAX_CHARACTERS;
  private iterationsLeft = MAX_ITERATIONS;

  /** @throws OutputTooLarge */
  spend(characters: number): void {
    this.charactersLeft -= characters;
    if (this.charactersLeft < 0) throw new OutputTooLarge();
  }

  /** Counts one iteration of a loop. @throws OutputTooLarge when there were too many */
  countIteration(): void {
    this.iterationsLeft -= 1;
    if (this.iterationsLeft < 0) throw new OutputTooLarge(`runs its loops more than ${MAX_ITERATIONS} times`);
  }
}

/** Line breaks and other control characters; without them, no variable can add a header. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/**
 * A rendered part as it is put into the email. Half of a surrogate pair, which is what `{{lookup name 0}}` gives of a name that begins with an emoji, becomes
 * U+FFFD, as in UTF-8: many parsers would refuse JSON that holds it. A subject and a preview text become one line; a preview text is truncated,
 * because no inbox shows more.
 *
 * @throws OutputTooLarge
 */
export function finishedPart(name: PartName, rendered: string): string {
  // Many loops can concatenate hundreds of megabytes. V8 copies them only when they are read, and then exceeds the memory limit of the thread.
  if (rendered.length > MAX_CHARACTERS) throw new OutputTooLarge();
  const text = rendered.toWellFormed();
  switch (name) {
    case 'html':
    case 'text':
      if (text.length * 3 > MAX_BYTES && Buffer.byteLength(text) > MAX_BYTES)
        throw new OutputTooLarge(`becomes more than ${MAX_BYTES} bytes`);
      return text;
    case 'subject':
      return subjectLine(oneLine(text));
    case 'previewText':
      return firstCharacters(oneLine(text), MAX_PREVIEW_CHARACTERS);
  }
}

function oneLine(text: string): string {
  return text.replace(CONTROLS, ' ').replace(/ {2,}/g, ' ').trim();
}

function subjectLine(subject: string): string {
  if (firstCharacters(subject, MAX_SUBJECT_CHARACTERS) === subject) return subject;
  throw new OutputTooLarge(`becomes more than ${MAX_SUBJECT_CHARACTERS} characters`);
}

/** The first `max` characters (code points) of the text. */
function firstCharacters(text: string, max: number): string {
  return text.length <= max ? text : [...text.slice(0, max * 2)].slice(0, max).join('');
}
