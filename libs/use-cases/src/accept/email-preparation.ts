import { Coalescer, type DatabaseClock, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { EmailDraft, TemplatedEmailDraft } from '@posthorn/domain';
import type {
  AcceptableEmail,
  AcceptanceStore,
  CurrentTemplate,
  IdentityStore,
  KnownAnswer,
  TemplateStore,
} from '@posthorn/database';
import { missingVariables } from '@posthorn/rendering';
import { withoutUnsubscribeUrl } from '../unsubscribe/unsubscribe-variable.ts';
import {
  carriesUnsubscribe,
  type Origin,
  validateSendAt,
  type PreparationContext,
  prepareRawEmail,
  prepareTemplatedEmail,
} from './prepare-email.ts';
import { missingVariablesOf, noSuchTemplate, unverifiedSender } from './refusals.ts';

interface TemplateName {
  readonly workspaceId: WorkspaceId;
  readonly name: string;
}

const MAX_TEMPLATES_PER_LOOKUP = 500;

export interface EmailPreparationOptions {
  readonly store: Pick<AcceptanceStore, 'findAnswer'>;
  readonly templates: Pick<TemplateStore, 'findCurrent'>;
  readonly identities: Pick<IdentityStore, 'refuseSender'>;
  readonly clock: DatabaseClock;
}

/** Validates drafts as far as possible before the transaction that accepts them. */
export class EmailPreparation {
  private readonly templates: Coalescer<TemplateName, CurrentTemplate | undefined>;

  constructor(private readonly options: EmailPreparationOptions) {
    this.templates = new Coalescer({
      serve: (names) => options.templates.findCurrent(names),
      maxItems: MAX_TEMPLATES_PER_LOOKUP,
    });
  }

  /**
   * The email to accept; or, if the draft is invalid by now, the answer known for its idempotency key: a repeated call gets its first answer.
   *
   * @throws Refusal 400 for an invalid `sendAt`, an unknown template or missing variables
   */
  async prepare(draft: EmailDraft, origin: Origin): Promise<AcceptableEmail | KnownAnswer> {
    try {
      return await this.validate(draft, { ...origin, clock: this.options.clock });
    } catch (error) {
      const { idempotencyKey } = draft;
      if (!(error instanceof Refusal) || idempotencyKey === undefined) throw error;
      const known = await this.options.store.findAnswer(origin.workspaceId, idempotencyKey);
      if (known === undefined) throw error;
      return known;
    }
  }

  private async validate(draft: EmailDraft, context: PreparationContext): Promise<AcceptableEmail> {
    const sendAt = validateSendAt(draft, context.clock);
    if (draft.type === 'raw') return prepareRawEmail(draft, sendAt, context);
    const template = await this.currentTemplate(context.workspaceId, draft);
    await this.validateVariables(draft, template, context.workspaceId);
    return prepareTemplatedEmail(draft, template, sendAt, context);
  }

  private async currentTemplate(
    workspaceId: WorkspaceId,
    { template: name }: TemplatedEmailDraft,
  ): Promise<CurrentTemplate> {
    const template = await this.templates.add({ workspaceId, name });
    if (template === undefined) throw noSuchTemplate(name);
    return template;
  }

  /** An unverified sender is reported rather than missing variables. */
  private async validateVariables(
    draft: TemplatedEmailDraft,
    template: CurrentTemplate,
    workspaceId: WorkspaceId,
  ): Promise<void> {
    const { required, from } = template;
    const wanted = withoutUnsubscribeUrl(required, carriesUnsubscribe(draft, template));
    const missing = missingVariables(wanted, draft.variables);
    if (missing.length === 0) return;
    const allowed = await this.options.identities.refuseSender(workspaceId, from.address);
    if (allowed === undefined) throw missingVariablesOf(draft.template, missing);
    throw unverifiedSender({ address: from.address, template: draft.template }, allowed);
  }
}
