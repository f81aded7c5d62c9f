-- No statement reads it: the members of a workspace are found by the workspace.
DROP INDEX memberships_by_user_idx;

-- It was for apps of a release before; there was none.
DROP FUNCTION record_email_events(uuid[], uuid[], text[], email_status[]);
