-- What mail that comes back reports of an email: of each kind the first one counts.
CREATE TYPE report_kind AS ENUM ('failed', 'delayed', 'delivered', 'complaint', 'unrecognised');
ALTER TABLE email_events ADD COLUMN report report_kind;
CREATE UNIQUE INDEX email_events_report_key ON email_events (email_id, report) WHERE report IS NOT NULL;

ALTER TYPE email_event_kind ADD VALUE 'DELIVERED';
ALTER TYPE email_event_kind ADD VALUE 'COMPLAINED';
ALTER TYPE email_event_kind ADD VALUE 'UNRECOGNISED';
