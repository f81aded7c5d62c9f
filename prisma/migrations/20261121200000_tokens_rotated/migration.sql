-- A token that was changed: what is posted is signed with it too for a time, so that a receiver can be changed after Posthorn.
ALTER TABLE webhooks
  ADD COLUMN previous_token       bytea,
  ADD COLUMN previous_token_until timestamptz,
  ADD CONSTRAINT webhooks_previous_token_ends CHECK ((previous_token IS NULL) = (previous_token_until IS NULL));
