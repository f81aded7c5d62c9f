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
  { id = name, value = '', type = 'text', list, isRequired = false }: FieldTraits,
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

/** An input for a time in UTC; `FormInput` reads it. */
export function timeField(name: string, label: string, traits?: Omit<FieldTraits, 'type'>): Html {
  return field(name, `${label} (UTC)`, { ...traits, type: 'datetime-local' });
}

/** A select with its label above it. @param texts the text of each option, by its value */
export function select(
  name: string,
  label: string,
  { texts, value }: { texts: Readonly<Record<string, string>>; value?: string | undefined },
): Html {
  const option = ([each, text]: [string, string]): Html =>
    html`<option value="${each}" ${each === value ? html`selected` : ''}>${text}</option>`;
  return html`<div>
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">
      ${Object.entries(texts).map(option)}
    </select>
  </div>`;
}

/** A select for one of these words, or none. */
export function choice(
  name: string,
  label: string,
  { words, value }: { words: readonly string[]; value?: string | undefined },
): Html {
  const texts = { '': 'any', ...Object.fromEntries(words.map((word) => [word, word])) };
  return select(name, label, { texts, value });
}

/** What a form sends beside what is filled in, without values that are undefined. */
export function hiddenFields(values: Readonly<Record<string, string | undefined>>): Html[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`],
  );
}
