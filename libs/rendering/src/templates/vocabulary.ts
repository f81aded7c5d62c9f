import { ELSEWHERE, type Helper, HELPERS } from './helpers.ts';
import { shown } from './parse-part.ts';
import type { Block, Mustache, SubExpression } from './syntax.ts';

export const FORBIDDEN = {
  PartialStatement: 'partials (`{{> name}}`) are not possible; put their content into the template',
  PartialBlockStatement: 'partials (`{{#> name}}`) are not possible; put their content into the template',
  Decorator: 'decorators (`{{* name}}`) are not possible; take it out',
  DecoratorBlock: 'decorators (`{{#* name}}`) are not possible; take it out',
} as const;

/** The block helpers that Handlebars brings along: how many arguments, which options, and whether `this` is another inside. */
export const BLOCKS: ReadonlyMap<string, { readonly options: readonly string[]; readonly isScope: boolean }> =
  new Map([
    ['if', { options: ['includeZero'], isScope: false }],
    ['unless', { options: ['includeZero'], isScope: false }],
    ['each', { options: [], isScope: true }],
    ['with', { options: [], isScope: true }],
  ]);

export type Call = Mustache | Block | SubExpression;

/** Why nothing of this name can be called here. */
export function unknownHelper(name: string, call: Call): string {
  if (BLOCKS.has(name) && call.type !== 'BlockStatement')
    return `\`${name}\` opens a block; write \`{{#${name} …}}…{{/${name}}}\``;
  const here = ELSEWHERE.get(name);
  if (here !== undefined) return `there is no helper \`${name}\`; write \`${here}\``;
  return `there is no helper \`${shown(name)}\`; there are ${[...HELPERS.keys()].join(', ')}`;
}

/** How many arguments a helper takes. */
export function amount({ min, max }: Helper): string {
  if (min === max) return `${min} ${min === 1 ? 'argument' : 'arguments'}`;
  return `${min} to ${max} arguments`;
}
