import {
  anyObject,
  count,
  idOf,
  listOf,
  nullable,
  objectOf,
  text,
  time,
  bool,
} from '../openapi/answer-schemas.ts';
import { AnswerField } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';

/** A version of a template, without its content. */
export class TemplateVersion {
  @AnswerField('The number of the version, from 1.', count, { example: 2 })
  version!: number;

  @AnswerField('The address of the sender.', text, { example: 'shop@example.com' })
  from!: string;

  @AnswerField('The name of the sender; `null` when it has none.', nullable(text), { example: 'The Shop' })
  fromName!: string | null;

  @AnswerField('The subject line, in the template language.', text, { example: 'Your order {{orderId}}' })
  subject!: string;

  @AnswerField(
    'The variables that an email must give: those that the template prints and that have no default.',
    listOf(text),
    { example: ['orderId'] },
  )
  requiredVariables!: readonly string[];

  @AnswerField('When it was made.', time)
  createdAt!: Date;
}

/** A template in a list: its current version without the content. */
export class TemplateSummary extends TemplateVersion {
  @AnswerField('The id of the template.', idOf('tpl'))
  id!: string;

  @AnswerField('The name by which emails refer to it.', text, { example: 'order-receipt' })
  name!: string;

  @AnswerField('When its name or content was last changed.', time)
  updatedAt!: Date;
}

/** A template with the content of its current version. */
export class Template extends TemplateSummary {
  @AnswerField('The HTML, in the template language.', text, {
    example: '<h1>Thank you, {{default firstName "friend"}}!</h1>',
  })
  html!: string;

  @AnswerField(
    'The plain text, in the template language; `null` when it is made from the HTML.',
    nullable(text),
    { example: null },
  )
  text!: string | null;

  @AnswerField(
    'What the inbox shows after the subject, in the template language; `null` if it is not set.',
    nullable(text),
    {
      example: 'It arrives on {{date arrivesAt "long"}}',
    },
  )
  previewText!: string | null;

  @AnswerField('Where replies go; empty: to the sender.', listOf(text), { example: ['help@example.com'] })
  replyTo!: readonly string[];

  @AnswerField('The values of variables that an email does not give.', anyObject, {
    example: { arrivesAt: '2030-01-31' },
  })
  defaults!: object;

  @AnswerField('Whether its emails have an unsubscribe link, unless an email overrides it.', bool, {
    example: false,
  })
  unsubscribe!: boolean;
}

/** The answer that shows a template. */
export class TemplateAnswer {
  @AnswerField('The template.', objectOf(Template))
  template!: Template;
}

/** The answer to a template that was deleted. */
export class TemplateDeletedAnswer extends TemplateAnswer {
  @AnswerField('Always `true`.', bool)
  isDeleted!: true;
}

class TemplatePage extends pageOf('The templates, without their content.', TemplateSummary) {}

/** The answer that lists templates. */
export class TemplatesAnswer {
  @AnswerField('The page.', objectOf(TemplatePage))
  templates!: TemplatePage;
}

class TemplateVersionPage extends pageOf('The versions, without their content.', TemplateVersion) {}

/** The answer that lists the versions of a template. */
export class TemplateVersionsAnswer {
  @AnswerField('The page.', objectOf(TemplateVersionPage))
  versions!: TemplateVersionPage;
}

/** The answer that previews an email of a template. */
export class TemplatePreviewAnswer {
  @AnswerField('The subject line.', text, { example: 'Your order 10042' })
  subject!: string;

  @AnswerField('The HTML as it is sent, with the preview text hidden at its start.', text, {
    example: '<h1>Thank you, Ada!</h1>',
  })
  html!: string;

  @AnswerField('The plain text; made from the HTML where the template has none.', text, {
    example: 'Thank you, Ada!',
  })
  text!: string;

  @AnswerField(
    'What the inbox shows after the subject; `null` if the template does not set it.',
    nullable(text),
    { example: 'It arrives on January 31, 2030' },
  )
  previewText!: string | null;
}
