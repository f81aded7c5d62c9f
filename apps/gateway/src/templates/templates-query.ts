import { SIZES } from '@posthorn/domain';
import { PageQuery } from '../paging/page-query.ts';
import { Optional } from '../validation/rule.ts';
import { singleLine } from '../validation/text-rules.ts';

/** The page and filter of a list of templates. */
export class TemplatesQuery extends PageQuery {
  @Optional(singleLine(SIZES.templateName), 'Only the template with this name.', { example: 'order-receipt' })
  name?: string;
}
