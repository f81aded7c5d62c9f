import { html, type Html } from './html.ts';

interface FieldTraits {
  /** Needed where another form of the page has a field of this name. Default: the name. */
  readonly id?: string;
  readonly value?: string | undefined;
  readonly type?: string;
  /** The id of its `<datalist>`. */
  readonly list?: string;
  readonly isRequired?: boolean;
}

/** An input with its label above it. */
export function field(
  name: string,
  label: string,
  { id = name, value = '', type = 'text', list, isRequired = false }: FieldTraits = {},
): Html {
  const suggestions = list === undefined ? html`` : html`list="${list}"`;
  const required = isRequired ? html`required` : html``;
  return html`<div>
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${name}"
      type="${type}"
      value="${value}"
      autocomplete="off"
      ${suggestions}
      ${required}
    />
  </div>`;
}

/** A select for one of these words, or none. */
export function choice(
  name: string,
  label: string,
  { words, value }: { words: readonly string[]; value?: string | undefined },
): Html {
  const option = (word: string): Html =>
    word === value ? html`<option selected>${word}</option>` : html`<option>${word}</option>`;
  return html`<div>
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">
      <option value="">any</option>
      ${words.map(option)}
    </select>
  </div>`;
}
