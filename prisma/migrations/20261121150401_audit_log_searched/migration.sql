-- The filters of the list; its order is the key's, which is the order of time.
CREATE INDEX audit_log_by_action_idx ON audit_log (workspace_id, action, id);
CREATE INDEX audit_log_by_subject_idx ON audit_log (workspace_id, subject_id, id);
