/** The first day of the month (UTC) in which an email was accepted, whatever the session's time zone: `usage` counts by it. */
export const MONTH_OF_ACCEPTANCE = `date_trunc('month', accepted_at AT TIME ZONE 'UTC')::date`;
