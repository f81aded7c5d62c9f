import { FOREIGN_HELPERS, type Helper, HELPERS } from './helpers.ts';
import { shown } from './parse-part.ts';
import type { Block, Mustache, SubExpression } from './syntax.ts';

export const FORBIDDEN = {
  PartialStatement: 'partials (`{{> name}}`) are not supported; put their content into the template',
  PartialBlockStatement: 'partials (`{{#> name}}`) are not supported; put their content into the template',
  Decorator: 'decorators (`{{* name}}`) are not supported; remove it',
  DecoratorBlock: 'decorators (`{{#* name}}`) are not supported; remove it',
} as const;

/** The built-in block helpers of Handlebars: their options, and whether they change `this`. */
export const BLOCKS: ReadonlyMap<string, { readonly options: readonly string[]; readonly isScope: boolean }> =
  new Map([
    ['if', { options: ['includeZero'], isScope: false }],
    ['unless', { options: ['includeZero'], isScope: false }],
    ['each', { options: [], isScope: true }],
    ['with', { options: [], isScope: true }],
  ]);

export type Call = Mustache | Block | SubExpression;

/** The fault of a call of an unknown helper. */
export function unknownHelper(name: string, call: Call): string {
  if (BLOCKS.has(name) && call.type !== 'BlockStatement')
    return `\`${name}\` opens a block; write \`{{#${name} …}}…{{/${name}}}\``;
  const equivalent = FOREIGN_HELPERS.get(name);
  if (equivalent !== undefined) return `there is no helper \`${name}\`; write \`${equivalent}\``;
  return `there is no helper \`${shown(name)}\`; there are ${[...HELPERS.keys()].join(', ')}`;
}

/** How many arguments a helper takes, as text. */
export function argumentCount({ min, max }: Helper): string {
  if (min === max) return `${min} ${min === 1 ? 'argument' : 'arguments'}`;
  return `${min} to ${max} arguments`;
}
