-- How far the deliveries that waited for a retry when a webhook was enabled again have been put back, so that those that have failed again since are not looked at
-- for each group.
ALTER TABLE webhooks ADD COLUMN put_back_seen_to uuid;
