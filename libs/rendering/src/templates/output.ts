import type { PartName } from './template-parts.ts';

/** What one text may become while it is made; the same as the largest part of an email. */
export const MAX_CHARACTERS = 5 * 1_048_576;

/** A rendered part or a step on the way to it is larger than it may be. */
export class OutputTooLarge extends Error {
  /** @param message what is wrong, as what follows the name of the part */
  constructor(message = `becomes more than ${MAX_CHARACTERS} characters`) {
    super(message);
    this.name = 'OutputTooLarge';
  }
}

/** How often the loops of one rendering may go round: some times as many items as fit into the variables of an email. */
const MAX_ROUNDS = 500_000;

/** Counts what one rendering prints and how often its loops go round, so that it ends by itself long before it is killed. */
export class Output {
  private left = MAX_CHARACTERS;
  private roundsLeft = MAX_ROUNDS;

  /** @throws OutputTooLarge */
  spend(characters: number): void {
    this.left -= characters;
    if (this.left < 0) throw new OutputTooLarge();
  }

  /** Counts one iteration of a loop. @throws OutputTooLarge when there were too many */
  countIteration(): void {
    this.roundsLeft -= 1;
    if (this.roundsLeft < 0) throw new OutputTooLarge(`goes round its loops more than ${MAX_ROUNDS} times`);
  }
}

const MAX_BYTES = 5 * 1_048_576;
const MAX_SUBJECT_CHARACTERS = 998;
const MAX_PREVIEW_CHARACTERS = 1_000;

/** Line breaks and other controls: no header can hold them, so no variable can add one. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/**
 * A rendered part as it goes into the email. A subject and a preview text become one line; a preview text is cut to what
 * it may have, because no inbox shows that much anyway.
 *
 * @throws OutputTooLarge
 */
export function finishedPart(name: PartName, rendered: string): string {
  switch (name) {
    case 'html':
    case 'text':
      if (rendered.length * 3 > MAX_BYTES && Buffer.byteLength(rendered) > MAX_BYTES)
        throw new OutputTooLarge(`becomes more than ${MAX_BYTES} bytes`);
      return rendered;
    case 'subject':
      return subjectLine(oneLine(rendered));
    case 'previewText':
      return charactersOf(oneLine(rendered), MAX_PREVIEW_CHARACTERS);
  }
}

function oneLine(text: string): string {
  return text.replace(CONTROLS, ' ').replace(/ {2,}/g, ' ').trim();
}

function subjectLine(subject: string): string {
  if (charactersOf(subject, MAX_SUBJECT_CHARACTERS) === subject) return subject;
  throw new OutputTooLarge(`becomes more than ${MAX_SUBJECT_CHARACTERS} characters`);
}

/** At most so many characters (code points) of the text. */
function charactersOf(text: string, max: number): string {
  return text.length <= max ? text : [...text.slice(0, max * 2)].slice(0, max).join('');
}
