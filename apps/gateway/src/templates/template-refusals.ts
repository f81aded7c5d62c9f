import type { DescribedRefusal } from '../openapi/describes.ts';

export const NOT_IN_THE_LANGUAGE: DescribedRefusal = {
  status: 400,
  when: 'Template not in the language',
  message:
    '`html`, line 3, column 5: the block `{{#each items}}` is never closed; close it with `{{/each items}}`',
};

export const NAME_TAKEN: DescribedRefusal = {
  status: 409,
  when: 'Name taken',
  message:
    '`name` is "order-receipt", which another template of this workspace has; give another name, or change that one',
};

export const CHANGED_MEANWHILE: DescribedRefusal = {
  status: 409,
  when: 'Changed by others',
  message:
    'The template was changed by others again and again while this change was made; read it, and change it again',
};

export const WORKSPACE_FULL: DescribedRefusal = {
  status: 409,
  when: 'Workspace full',
  message: 'The workspace has 1000 templates, which is the most; delete one that is not used any more',
};

export const VARIABLES_MISSING: DescribedRefusal = {
  status: 400,
  when: 'Variables missing',
  message:
    '`variables.orderId`, `variables.items` are missing or null: the template "order-receipt" prints them and has no default; give them a value ("" prints nothing), or give them a default in the template',
  docsPage: 'invalid-payload',
};
