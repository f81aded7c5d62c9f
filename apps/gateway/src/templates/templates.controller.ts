import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import type { TemplateId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresEditor, RequiresScope } from '@posthorn/auth';
import { type Template, TemplateChanges, TemplateStore } from '@posthorn/database';
import { DisconnectSignal } from '@posthorn/platform';
import { SaveTemplate } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { PageQuery } from '../paging/page-query.ts';
import { pageById } from '../paging/page-request.ts';
import { LargeReads } from '../system/large-reads.ts';
import { validateBody } from '../validation/validate-body.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { TemplatesQuery } from './templates-query.ts';
import { CreateTemplateRequest, UpdateTemplateRequest } from './save-template.requests.ts';
import { toTemplateDraft, toTemplatePatch } from './template-draft.ts';
import { CREATE_REFUSALS, UPDATE_REFUSALS } from './template-refusals.ts';
import { summaryView, templateView, versionView } from './template-view.ts';
import {
  TemplateAnswer,
  TemplateDeletedAnswer,
  TemplatesAnswer,
  TemplateVersionsAnswer,
} from './template.answers.ts';

@Controller('v1/templates')
export class TemplatesController {
  constructor(
    private readonly saveTemplate: SaveTemplate,
    private readonly templates: TemplateStore,
    private readonly changes: TemplateChanges,
    private readonly reads: LargeReads,
  ) {}

  @Post()
  @RequiresEditor()
  @Describes({
    name: 'createTemplate',
    tag: 'Templates',
    summary: 'Create a template',
    description:
      'Creates a template. `subject`, `html`, `text` and `previewText` are in the template language: ' +
      'Handlebars with `each`, `if`, `unless`, `with` and a few formatting helpers. A template that does not compile is refused.',
    body: CreateTemplateRequest,
    answer: TemplateAnswer,
    refuses: CREATE_REFUSALS,
  })
  async create(@Caller() caller: Principal, @Body() body: unknown): Promise<TemplateAnswer> {
    const draft = toTemplateDraft(validateBody(CreateTemplateRequest, body));
    const created = await this.saveTemplate.create(caller.workspaceId, actorOf(caller), draft);
    return answerOf(created);
  }

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'listTemplates',
    tag: 'Templates',
    summary: 'List templates',
    description: 'Lists the templates of the workspace, without their content.',
    query: TemplatesQuery,
    answer: TemplatesAnswer,
  })
  async list(@Caller() caller: Principal, @Query() query: unknown): Promise<TemplatesAnswer> {
    const { name, ...page } = validateQuery(TemplatesQuery, query);
    const found = await this.templates.list(caller.workspaceId, pageById('tpl', page), name);
    return { templates: { ...found, items: found.items.map(summaryView) } };
  }

  @Get(':template_id')
  @RequiresScope('user')
  @Describes({
    name: 'readTemplate',
    tag: 'Templates',
    summary: 'Read a template',
    description: 'Shows a template with its current version.',
    answer: TemplateAnswer,
  })
  async read(
    @Caller() { workspaceId }: Principal,
    @PathId('template_id') id: TemplateId,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<TemplateAnswer> {
    const found = await this.reads.run(workspaceId, () => this.templates.find(workspaceId, id), gone);
    return answerOf(found);
  }

  @Post(':template_id')
  @RequiresEditor()
  @Describes({
    name: 'updateTemplate',
    tag: 'Templates',
    summary: 'Update a template',
    description:
      'Changes the fields that are given and keeps the others. A change of the content creates a new version, for emails that are accepted from now on; ' +
      'emails accepted before keep their version, even if they are still scheduled.',
    body: UpdateTemplateRequest,
    answer: TemplateAnswer,
    refuses: UPDATE_REFUSALS,
  })
  async update(
    @Caller() caller: Principal,
    @PathId('template_id') id: TemplateId,
    @Body() body: unknown,
  ): Promise<TemplateAnswer> {
    const patch = toTemplatePatch(validateBody(UpdateTemplateRequest, body));
    return answerOf(await this.saveTemplate.update(caller.workspaceId, actorOf(caller), id, patch));
  }

  @Delete(':template_id')
  @RequiresEditor()
  @Describes({
    name: 'deleteTemplate',
    tag: 'Templates',
    summary: 'Delete a template',
    description: 'Deletes the template. Emails that were accepted before are still sent with it.',
    answer: TemplateDeletedAnswer,
  })
  async delete(
    @Caller() caller: Principal,
    @PathId('template_id') id: TemplateId,
  ): Promise<TemplateDeletedAnswer> {
    const deleted = await this.changes.delete(caller.workspaceId, actorOf(caller), id);
    return { ...answerOf(deleted), isDeleted: true };
  }

  @Get(':template_id/versions')
  @RequiresScope('user')
  @Describes({
    name: 'listTemplateVersions',
    tag: 'Templates',
    summary: 'List the versions of a template',
    description: 'Lists the versions, without their content. A version never changes.',
    query: PageQuery,
    answer: TemplateVersionsAnswer,
  })
  async listVersions(
    @Caller() caller: Principal,
    @PathId('template_id') id: TemplateId,
    @Query() query: unknown,
  ): Promise<TemplateVersionsAnswer> {
    const page = pageById('tpv', validateQuery(PageQuery, query));
    const versions = foundBy('template_id', await this.templates.listVersions(caller.workspaceId, id, page));
    return { versions: { ...versions, items: versions.items.map(versionView) } };
  }
}

/** @throws Refusal 404 when there is none */
function answerOf(template: Template | undefined): TemplateAnswer {
  return { template: templateView(foundBy('template_id', template)) };
}
