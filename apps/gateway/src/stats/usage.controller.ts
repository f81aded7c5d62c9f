import { Controller, Get } from '@nestjs/common';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { ReadUsage } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { UsageAnswer } from './usage.answers.ts';

@Controller('v1/usage')
export class UsageController {
  constructor(private readonly usage: ReadUsage) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'readUsage',
    tag: 'Statistics',
    summary: 'Read how much of the monthly limit is used',
    description:
      'Counts exactly what the monthly limit of the workspace counts. When nothing remains, emails are answered 403 until `resetsAt`.',
    answer: UsageAnswer,
  })
  async read(@Caller() { workspaceId }: Principal): Promise<UsageAnswer> {
    const usage = await this.usage.read(workspaceId);
    return { usage: { ...usage, month: usage.month.toISOString().slice(0, 7) } };
  }
}
