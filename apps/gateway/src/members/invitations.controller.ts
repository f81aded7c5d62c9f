import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { DatabaseClock, type InvitationId } from '@posthorn/kernel';
import { type Invitation, INVITATION_KEPT_DAYS, invitationStatus } from '@posthorn/domain';
import { InvitationChanges, InvitationStore } from '@posthorn/database';
import { actorOf, Caller, type Principal, RequiresEditor, RequiresScope } from '@posthorn/auth';
import { endedRefusal, InviteMember } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { validateBody } from '../validation/validate-body.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { INVITE_REFUSALS, RESEND_REFUSALS, REVOKE_REFUSALS } from './member-refusals.ts';
import { type Invitation as ShownInvitation, InvitationAnswer, InvitationsAnswer } from './member.answers.ts';
import { CreateInvitationRequest, InvitationsQuery } from './member.requests.ts';

/** Invitations to a workspace. */
@Controller('v1/invitations')
export class InvitationsController {
  constructor(
    private readonly invitations: InvitationStore,
    private readonly changes: InvitationChanges,
    private readonly inviteMember: InviteMember,
    private readonly clock: DatabaseClock,
  ) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'listInvitations',
    tag: 'Members',
    summary: 'List the invitations',
    description: `Finished invitations are listed for ${INVITATION_KEPT_DAYS} days after their links have expired.`,
    query: InvitationsQuery,
    answer: InvitationsAnswer,
  })
  async list(@Caller() { workspaceId }: Principal, @Query() query: unknown): Promise<InvitationsAnswer> {
    const { status, ...page } = validateQuery(InvitationsQuery, query);
    const wanted = pageById('inv', page);
    const found = await this.invitations.list(workspaceId, wanted, status);
    return {
      invitations: { ...found, items: found.items.map((one) => invitationView(one, this.clock.now())) },
    };
  }

  @Post()
  @RequiresEditor()
  @Describes({
    name: 'createInvitation',
    tag: 'Members',
    summary: 'Invite somebody',
    description:
      'Sends a mail to the address, with a link to a page that asks for consent; pressing the button there makes the person a member. The link is valid for seven days. An address can have one open invitation at a time.',
    body: CreateInvitationRequest,
    answer: InvitationAnswer,
    refuses: INVITE_REFUSALS,
  })
  async create(@Caller() caller: Principal, @Body() body: unknown): Promise<InvitationAnswer> {
    const wanted = validateBody(CreateInvitationRequest, body);
    const { workspaceId } = caller;
    return this.answer(await this.inviteMember.invite(workspaceId, actorOf(caller), wanted));
  }

  @Get(':invitation_id')
  @RequiresScope('user')
  @Describes({
    name: 'readInvitation',
    tag: 'Members',
    summary: 'Read an invitation',
    answer: InvitationAnswer,
  })
  async read(
    @Caller() { workspaceId }: Principal,
    @PathId('invitation_id') id: InvitationId,
  ): Promise<InvitationAnswer> {
    return this.answer(await this.invitations.find(workspaceId, id));
  }

  @Post(':invitation_id/resend')
  @RequiresEditor()
  @Describes({
    name: 'resendInvitation',
    tag: 'Members',
    summary: 'Send an invitation again',
    description:
      'Mails a new link, which is valid for seven days from now; the previous link stops working. An expired invitation becomes open again.',
    answer: InvitationAnswer,
    refuses: RESEND_REFUSALS,
  })
  async resend(
    @Caller() caller: Principal,
    @PathId('invitation_id') id: InvitationId,
  ): Promise<InvitationAnswer> {
    const { workspaceId } = caller;
    return this.answer(await this.inviteMember.resend(workspaceId, actorOf(caller), id));
  }

  @Post(':invitation_id/revoke')
  @RequiresEditor()
  @Describes({
    name: 'revokeInvitation',
    tag: 'Members',
    summary: 'Revoke an invitation',
    description: 'Its link stops working. Nothing changes if it was already revoked.',
    answer: InvitationAnswer,
    exampleOverrides: { 'invitation.status': 'REVOKED', 'invitation.revokedAt': '2030-01-31T09:30:00.000Z' },
    refuses: REVOKE_REFUSALS,
  })
  async revoke(
    @Caller() caller: Principal,
    @PathId('invitation_id') id: InvitationId,
  ): Promise<InvitationAnswer> {
    const revoked = await this.changes.revoke(caller.workspaceId, actorOf(caller), id);
    if (revoked !== undefined && 'refused' in revoked) throw endedRefusal(revoked);
    return this.answer(revoked);
  }

  private answer(invitation: Invitation | undefined): InvitationAnswer {
    return { invitation: invitationView(foundBy('invitation_id', invitation), this.clock.now()) };
  }
}

/** The API representation of an invitation at the time `now`. */
function invitationView(invitation: Invitation, now: Date): ShownInvitation {
  const { id, email, name, role, createdAt, expiresAt, acceptedAt, revokedAt } = invitation;
  const status = invitationStatus(invitation, now);
  return { id, email, name, role, status, createdAt, expiresAt, acceptedAt, revokedAt };
}
