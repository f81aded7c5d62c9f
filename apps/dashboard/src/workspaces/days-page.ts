import { EMAIL_STATUSES, type EmailStatus } from '@posthorn/domain';
import type { DayCount, Workspace } from '@posthorn/database';
import { count, table } from '../pages/components.ts';
import { html, type Html } from '../pages/html.ts';
import { workspaceLink } from '../pages/workspaces.ts';

const DAY_MS = 86_400_000;
const DAYS_SHOWN = 14;
const STATUSES = Object.keys(EMAIL_STATUSES) as EmailStatus[];

/** Consecutive days in UTC, both included. */
export interface ShownDays {
  readonly firstDay: Date;
  readonly lastDay: Date;
}

/** The days that are shown if this moment is in the last of them. */
export function daysUntil(moment: Date): ShownDays {
  const lastDay = new Date(dayOf(moment.getTime()));
  return { firstDay: new Date(lastDay.getTime() - (DAYS_SHOWN - 1) * DAY_MS), lastDay };
}

/** How many emails of a workspace were accepted on each day, and what became of them. */
export function daysPage(workspace: Workspace, days: ShownDays, counts: readonly DayCount[]): Html {
  const columns = ['Day (UTC)', 'Accepted', ...STATUSES.map(headingOf)];
  const byDay = Map.groupBy(counts, ({ day }) => day);
  const rows = Array.from({ length: DAYS_SHOWN }, (_, n) => {
    const ms = days.lastDay.getTime() - n * DAY_MS;
    return dayRow(workspace, ms, byDay.get(dayOf(ms)) ?? []);
  });
  const earlier = dayOf(days.firstDay.getTime() - DAY_MS);
  return html`<h1>Emails by day</h1>
    <p>
      Of ${workspaceLink(workspace)}: by the day of acceptance (UTC), and by the status that they have now.
    </p>
    ${table(columns, rows, columns.slice(1))}
    <p><a href="?until=${earlier}" rel="next">Further back</a></p>`;
}

function dayRow({ id }: Workspace, ms: number, counts: readonly DayCount[]): Html {
  const accepted = counts.reduce((sum, day) => sum + day.count, 0);
  const period = { after: `${dayOf(ms)}T00:00`, before: `${dayOf(ms + DAY_MS)}T00:00` };
  const link = (number: number, status?: EmailStatus): Html => {
    const query = { workspace: id, ...period, ...(status === undefined ? {} : { status }) };
    return html`<a href="/emails?${new URLSearchParams(query).toString()}">${count(number)}</a>`;
  };
  const cell = (status: EmailStatus): Html => {
    const number = counts.find((day) => day.status === status)?.count ?? 0;
    const shown = number === 0 ? '' : link(number, status);
    return html`<td class="n" data-label="${headingOf(status)}">${shown}</td>`;
  };
  return html`<tr>
    <td class="first">${dayOf(ms)}</td>
    <td class="n" data-label="Accepted">${accepted === 0 ? '0' : link(accepted)}</td>
    ${STATUSES.map(cell)}
  </tr>`;
}

/** A status in capitals would be too wide for the heading of a column. */
function headingOf(status: EmailStatus): string {
  return status.charAt(0) + status.slice(1).toLowerCase();
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
