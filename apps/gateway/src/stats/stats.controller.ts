import { Controller, Get, Query } from '@nestjs/common';
import { DatabaseClock } from '@posthorn/kernel';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { DisconnectSignal } from '@posthorn/platform';
import { CountEmails } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { countedEmails, StatsQuery, tooManyDays } from './stats-query.ts';
import { statsView } from './stats-view.ts';
import { StatsAnswer } from './stats.answers.ts';

@Controller('v1/stats')
export class StatsController {
  constructor(
    private readonly countEmails: CountEmails,
    private readonly clock: DatabaseClock,
  ) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'readStats',
    tag: 'Statistics',
    summary: 'Count emails',
    description:
      'Counts the emails of the workspace, or of one group of it, by the day on which they were accepted: how many have each status now, and how many were opened and clicked by people. Emails that were removed, because a person was erased or the retention period has passed, are no longer counted.',
    query: StatsQuery,
    answer: StatsAnswer,
    refuses: { 'Too many days': tooManyDays(365) },
  })
  async read(
    @Caller() { workspaceId }: Principal,
    @Query() query: unknown,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<StatsAnswer> {
    const wanted = countedEmails(workspaceId, validateQuery(StatsQuery, query), this.clock);
    return { stats: statsView(wanted, await this.countEmails.count(wanted, gone)) };
  }
}
