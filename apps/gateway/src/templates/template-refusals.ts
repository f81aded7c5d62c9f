import { missingVariablesOf, notInTheLanguage, notWritten } from '@posthorn/use-cases';
import type { Refusals } from '../openapi/describes.ts';

const NAME = 'order-receipt';
const OF_BOTH: Refusals = {
  'Template not in the language': notInTheLanguage([
    '`html`, line 3, column 5: the block `{{#each items}}` is never closed; close it with `{{/each items}}`',
  ]),
  'Name taken': notWritten('name_taken', NAME),
};

export const CREATE_REFUSALS: Refusals = { ...OF_BOTH, 'Workspace full': notWritten('too_many', NAME) };

export const UPDATE_REFUSALS: Refusals = { ...OF_BOTH, 'Changed by others': notWritten('changed', NAME) };

export const VARIABLES_MISSING: Refusals = {
  'Variables missing': missingVariablesOf(NAME, ['orderId', 'items']),
};
