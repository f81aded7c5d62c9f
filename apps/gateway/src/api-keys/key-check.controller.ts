import { Controller, Get } from '@nestjs/common';
import { Caller, type Principal, RequiresKey } from '@posthorn/auth';
import { Describes } from '../openapi/describes.ts';
import { ApiKeyCheckAnswer } from './api-key.answers.ts';

@Controller('v1/api-keys/check')
export class KeyCheckController {
  @Get()
  @RequiresKey()
  @Describes({
    name: 'checkApiKey',
    tag: 'API keys',
    summary: 'Check the key of this request',
    description:
      'Shows the name and role of the key. Any valid key may ask, whatever its scopes; for an invalid key the answer is 401.',
    answer: ApiKeyCheckAnswer,
  })
  check(@Caller() { displayName, role }: Principal): ApiKeyCheckAnswer {
    return { status: 'SUCCEED', displayName, role };
  }
}
