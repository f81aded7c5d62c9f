/** The first day of the month (UTC) in which something is, whatever the session's time zone: `usage` counts by it. */
export function monthOf(time: string): string {
  return `date_trunc('month', ${time} AT TIME ZONE 'UTC')::date`;
}
