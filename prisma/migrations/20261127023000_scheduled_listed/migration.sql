-- The scheduled emails of a workspace are listed without looking at all its others: they may have been accepted months ago.
-- All of them have a send_at. It is a condition so that statements which change a scheduled email by its id cannot be planned, while there are few of these, to
-- search this whole index for it.
CREATE INDEX emails_scheduled_idx ON emails (workspace_id, id) WHERE status = 'SCHEDULED' AND send_at IS NOT NULL;
