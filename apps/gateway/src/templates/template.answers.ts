import {
  anyObject,
  count,
  idOf,
  listOf,
  nullable,
  objectOf,
  text,
  time,
  truth,
} from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';
import { pageOf } from '../paging/page-answer.ts';

/** A version of a template, without its content. */
export class TemplateVersion {
  @Shown('The number of the version, from 1.', count, { example: 2 })
  version!: number;

  @Shown('The address of the sender.', text, { example: 'shop@example.com' })
  from!: string;

  @Shown('The name of the sender; `null` when it has none.', nullable(text), { example: 'The Shop' })
  fromName!: string | null;

  @Shown('The subject line, in the template language.', text, { example: 'Your order {{orderId}}' })
  subject!: string;

  @Shown(
    'What an email must give in `variables`: what the template prints and has no default for.',
    listOf(text),
    { example: ['orderId'] },
  )
  requiredVariables!: readonly string[];

  @Shown('When it was made.', time)
  createdAt!: Date;
}

/** A template as a list shows it: what its current version is, without its content. */
export class TemplateSummary extends TemplateVersion {
  @Shown('The id of the template.', idOf('tpl'))
  id!: string;

  @Shown('The name by which emails ask for it.', text, { example: 'order-receipt' })
  name!: string;

  @Shown('When its name or content was last changed.', time)
  updatedAt!: Date;
}

/** A template with what its current version says. */
export class Template extends TemplateSummary {
  @Shown('The HTML, in the template language.', text, {
    example: '<h1>Thank you, {{default firstName "friend"}}!</h1>',
  })
  html!: string;

  @Shown('The plain text, in the template language; `null` when it is made from the HTML.', nullable(text), {
    example: null,
  })
  text!: string | null;

  @Shown(
    'What the inbox shows after the subject, in the template language; `null` when there is nothing of its own.',
    nullable(text),
    {
      example: 'It arrives on {{date arrivesAt "long"}}',
    },
  )
  previewText!: string | null;

  @Shown('Where replies go; empty: to the sender.', listOf(text), { example: ['help@example.com'] })
  replyTo!: readonly string[];

  @Shown('What a variable is when an email does not give it.', anyObject, {
    example: { arrivesAt: '2030-01-31' },
  })
  defaults!: object;

  @Shown('Whether its emails carry a way to unsubscribe, unless they say otherwise.', truth, {
    example: false,
  })
  unsubscribe!: boolean;
}

/** The answer that shows a template. */
export class TemplateAnswer {
  @Shown('The template.', objectOf(Template))
  template!: Template;
}

/** The answer to a template that was deleted. */
export class TemplateDeletedAnswer {
  @Shown('The template as it was.', objectOf(Template))
  template!: Template;

  @Shown('Always `true`.', truth)
  isDeleted!: true;
}

/** A page of templates. */
export class TemplatePage extends pageOf('The templates, without their content.', TemplateSummary) {}

/** The answer that lists templates. */
export class TemplatesAnswer {
  @Shown('The page.', objectOf(TemplatePage))
  templates!: TemplatePage;
}

/** A page of the versions of a template. */
export class TemplateVersionPage extends pageOf('The versions, without their content.', TemplateVersion) {}

/** The answer that lists the versions of a template. */
export class TemplateVersionsAnswer {
  @Shown('The page.', objectOf(TemplateVersionPage))
  versions!: TemplateVersionPage;
}

/** What an email of a template would say. */
export class TemplatePreviewAnswer {
  @Shown('The subject line.', text, { example: 'Your order 10042' })
  subject!: string;

  @Shown('The HTML as it leaves, with the preview text hidden at its start.', text, {
    example: '<h1>Thank you, Ada!</h1>',
  })
  html!: string;

  @Shown('The plain text; made from the HTML where the template has none.', text, {
    example: 'Thank you, Ada!',
  })
  text!: string;

  @Shown(
    'What the inbox shows after the subject; `null` when the template has nothing of its own.',
    nullable(text),
    {
      example: 'It arrives on January 31, 2030',
    },
  )
  previewText!: string | null;
}
