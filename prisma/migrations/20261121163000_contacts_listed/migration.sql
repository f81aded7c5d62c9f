-- The filter of the list; its order is the key's, which is the order of time.
CREATE INDEX contacts_by_status_idx ON contacts (workspace_id, status, id);
