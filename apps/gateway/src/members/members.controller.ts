import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import type { UserId } from '@posthorn/kernel';
import type { Member } from '@posthorn/domain';
import { type LastEditor, MemberStore } from '@posthorn/database';
import { actorOf, Caller, type Principal, RequiresEditor, RequiresScope } from '@posthorn/auth';
import { lastEditorRefusal } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { PageQuery } from '../paging/page-query.ts';
import { pageById } from '../paging/page-request.ts';
import { validateBody } from '../validation/validate-body.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { LAST_EDITOR } from './member-refusals.ts';
import { MemberAnswer, MemberRemovedAnswer, MembersAnswer } from './member.answers.ts';
import { UpdateMemberRequest } from './member.requests.ts';

/** The people of a workspace. */
@Controller('v1/members')
export class MembersController {
  constructor(private readonly members: MemberStore) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'listMembers',
    tag: 'Members',
    summary: 'List the members',
    query: PageQuery,
    answer: MembersAnswer,
  })
  async list(@Caller() { workspaceId }: Principal, @Query() query: unknown): Promise<MembersAnswer> {
    const request = pageById('mbr', validateQuery(PageQuery, query));
    return { members: await this.members.list(workspaceId, request) };
  }

  @Get(':user_id')
  @RequiresScope('user')
  @Describes({ name: 'readMember', tag: 'Members', summary: 'Read a member', answer: MemberAnswer })
  async read(@Caller() { workspaceId }: Principal, @PathId('user_id') id: UserId): Promise<MemberAnswer> {
    return { member: foundMember(await this.members.find(workspaceId, id)) };
  }

  @Post(':user_id')
  @RequiresEditor()
  @Describes({
    name: 'updateMember',
    tag: 'Members',
    summary: 'Change the role of a member',
    description: 'If the workspace has members, at least one of them must remain an `EDITOR`.',
    body: UpdateMemberRequest,
    answer: MemberAnswer,
    refuses: LAST_EDITOR,
  })
  async update(
    @Caller() caller: Principal,
    @PathId('user_id') id: UserId,
    @Body() body: unknown,
  ): Promise<MemberAnswer> {
    const { role } = validateBody(UpdateMemberRequest, body);
    const { workspaceId } = caller;
    const changed =
      role === undefined
        ? this.members.find(workspaceId, id)
        : this.members.setRole(workspaceId, actorOf(caller), id, role);
    return { member: foundMember(await changed) };
  }

  @Delete(':user_id')
  @RequiresEditor()
  @Describes({
    name: 'removeMember',
    tag: 'Members',
    summary: 'Remove a member',
    description:
      'The person can be invited again. The last `EDITOR` can be removed only as the last member of all.',
    answer: MemberRemovedAnswer,
    refuses: LAST_EDITOR,
  })
  async remove(@Caller() caller: Principal, @PathId('user_id') id: UserId): Promise<MemberRemovedAnswer> {
    const removed = await this.members.remove(caller.workspaceId, actorOf(caller), id);
    return { member: foundMember(removed), isDeleted: true };
  }
}

/** @throws Refusal 404 for an unknown member, 409 for the last editor */
function foundMember(answer: Member | LastEditor | undefined): Member {
  const member = foundBy('user_id', answer);
  if ('refused' in member) throw lastEditorRefusal();
  return member;
}
