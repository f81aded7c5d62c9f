import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import type { ApiKeyId } from '@posthorn/kernel';
import { type ApiKeyStatus, pageByTime } from '@posthorn/domain';
import { type ApiKey as StoredApiKey, ApiKeyStore } from '@posthorn/database';
import { actorOf, Caller, type Principal, RequiresEditor } from '@posthorn/auth';
import { createApiKey, tooManyKeys } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { PageQuery } from '../paging/page-query.ts';
import { pageByCreationTime } from '../paging/page-request.ts';
import { validateBody } from '../validation/validate-body.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import {
  type ApiKey,
  ApiKeyAnswer,
  ApiKeyCreatedAnswer,
  ApiKeyDeletedAnswer,
  ApiKeysAnswer,
} from './api-key.answers.ts';
import { CreateApiKeyRequest, UpdateApiKeyRequest } from './api-key.requests.ts';

/** The keys of a workspace; the guard has seen that the workspace in the path is the caller's own. */
@Controller('v1/workspaces/:workspace_id/api-keys')
@RequiresEditor()
export class ApiKeysController {
  constructor(private readonly apiKeys: ApiKeyStore) {}

  @Get()
  @Describes({
    name: 'listApiKeys',
    tag: 'API keys',
    summary: 'List the keys',
    description:
      'Here `startAt` is the time of the first key of the next page. Keys created in the same millisecond stay together on a page, which may therefore be longer than `limit`.',
    query: PageQuery,
    answer: ApiKeysAnswer,
  })
  async list(@Caller() caller: Principal, @Query() query: unknown): Promise<ApiKeysAnswer> {
    const request = pageByCreationTime(validateQuery(PageQuery, query));
    const page = pageByTime(await this.apiKeys.list(caller.workspaceId), request);
    return { apiKeys: { ...page, items: page.items.map((key) => apiKeyView(key)) } };
  }

  @Post()
  @Describes({
    name: 'createApiKey',
    tag: 'API keys',
    summary: 'Create a key',
    description: 'The whole secret is shown in this answer and never again: store it now.',
    body: CreateApiKeyRequest,
    answer: ApiKeyCreatedAnswer,
    refuses: { 'Too many keys': tooManyKeys() },
  })
  async create(@Caller() caller: Principal, @Body() body: unknown): Promise<ApiKeyCreatedAnswer> {
    const wanted = validateBody(CreateApiKeyRequest, body);
    const { key, secretKey } = await createApiKey(this.apiKeys, caller.workspaceId, actorOf(caller), wanted);
    return { apiKey: { ...apiKeyView(key), secretKey } };
  }

  @Post(':api_key_id')
  @Describes({
    name: 'updateApiKey',
    tag: 'API keys',
    summary: 'Change a key',
    description:
      'Changes its name, its role or both. Its secret cannot be changed: create another key instead.',
    body: UpdateApiKeyRequest,
    answer: ApiKeyAnswer,
  })
  async update(
    @Caller() caller: Principal,
    @PathId('api_key_id') id: ApiKeyId,
    @Body() body: unknown,
  ): Promise<ApiKeyAnswer> {
    const { displayName, role } = validateBody(UpdateApiKeyRequest, body);
    const change = {
      ...(displayName === undefined ? {} : { displayName: displayName.trim() }),
      ...(role === undefined ? {} : { role }),
    };
    const key = foundBy(
      'api_key_id',
      await this.apiKeys.update(caller.workspaceId, actorOf(caller), id, change),
    );
    return { apiKey: apiKeyView(key) };
  }

  @Delete(':api_key_id')
  @Describes({
    name: 'deleteApiKey',
    tag: 'API keys',
    summary: 'Delete a key',
    description:
      'Deletes the key permanently and at once: every gateway refuses any request with it that begins after the answer. A key may delete itself.',
    answer: ApiKeyDeletedAnswer,
    exampleOverrides: { 'apiKey.status': 'ARCHIVED' },
  })
  async delete(
    @Caller() caller: Principal,
    @PathId('api_key_id') id: ApiKeyId,
  ): Promise<ApiKeyDeletedAnswer> {
    const key = foundBy('api_key_id', await this.apiKeys.delete(caller.workspaceId, actorOf(caller), id));
    return { apiKey: apiKeyView(key, 'ARCHIVED'), isDeleted: true };
  }
}

/** The API representation of a key, its secret abbreviated. */
function apiKeyView(key: StoredApiKey, status: ApiKeyStatus = 'ACTIVE'): ApiKey {
  const { id, displayName, role, secretHint, createdAt, updatedAt, lastUsedAt } = key;
  return { id, displayName, role, status, secretKey: secretHint, createdAt, updatedAt, lastUsedAt };
}
