-- The scheduled emails of a workspace are listed without looking at all its others: they may have been accepted months ago.
CREATE INDEX emails_scheduled_idx ON emails (workspace_id, id) WHERE status = 'SCHEDULED';
