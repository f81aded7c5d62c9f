import { expect, it } from '@jest/globals';
import { idFromUuid, newUuid, uuidOf } from '@posthorn/kernel';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { rawEmail } from '../../test-stores.fixture.ts';
import { EmailCountsStore } from './email-counts-store.ts';

const DAY_MS = 86_400_000;
/** More than two statements count. */
const DAYS = 16;

const stores = await openTestStores();
const counts = new EmailCountsStore(stores.database);

it('E18: emails count on the day of their acceptance (UTC), to the millisecond, over any number of days', async () => {
  await stores.ask(
    `SELECT make_partition(p, date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month')
     FROM unnest('{emails, email_contents, email_events, email_engagements}'::text[]) AS t (p)`,
  );
  const workspaceId = await stores.openWorkspace();
  const days = Array.from({ length: DAYS + 2 }, (_, n) => {
    return new Date((Math.floor(Date.now() / DAY_MS) - DAYS - 2 + n) * DAY_MS);
  });
  // The first and the last moment of each day; of the days, only those in between are asked for.
  const emails = days.flatMap((day, n) =>
    [day, new Date(day.getTime() + DAY_MS - 1)].map((acceptedAt) => {
      const id = idFromUuid('trs', newUuid(acceptedAt.getTime()));
      return rawEmail(workspaceId, { id, acceptedAt, ...(n % 2 === 0 && { groupBy: 'even' }) });
    }),
  );
  await stores.accept(emails);
  // Whoever loads no images can click without having opened.
  await stores.ask(
    `INSERT INTO email_engagements (email_id, workspace_id, opens, clicks, machine_opens, machine_clicks, clicked_at)
     SELECT id, $2, 0, 1, 0, 0, now() FROM unnest($1::uuid[]) AS e (id)`,
    [emails.map(({ id }) => uuidOf(id)), uuidOf(workspaceId)],
  );

  const asked = days.slice(1, -1);
  const wanted = { workspaceId, groupBy: undefined, firstDay: asked[0]!, lastDay: asked.at(-1)! };
  const names = asked.map((day) => day.toISOString().slice(0, 10));
  expect(await counts.count(wanted)).toEqual(names.map((day) => ({ day, status: 'SENT', count: 2 })));
  const ofGroup = await counts.count({ ...wanted, groupBy: 'even' });
  expect(ofGroup.map(({ day }) => day)).toEqual(names.filter((_day, n) => n % 2 === 1));
  expect(await counts.countEngagements(wanted)).toEqual(names.map((day) => ({ day, opened: 0, clicked: 2 })));
});
