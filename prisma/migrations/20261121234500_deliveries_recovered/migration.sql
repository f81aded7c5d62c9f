CREATE TYPE recovery_state AS ENUM ('COUNTING', 'RUNNING', 'COMPLETED');

-- The deliveries of a webhook that failed in a time, made due again a group at a time: each group moves `seen_to` in its own transaction,
-- so whoever dies in it has done nothing, and whoever goes on begins there.
CREATE TABLE webhook_recoveries (
  id           uuid           PRIMARY KEY,
  workspace_id uuid           NOT NULL REFERENCES workspaces (id),
  webhook_id   uuid           NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  since        timestamptz    NOT NULL,
  until        timestamptz    NOT NULL,
  state        recovery_state NOT NULL DEFAULT 'COUNTING',
  -- Deliveries with ids up to this one were looked at, in this state.
  seen_to      uuid           NOT NULL,
  total        integer        NOT NULL DEFAULT 0 CHECK (total >= 0),
  done         integer        NOT NULL DEFAULT 0 CHECK (done >= 0),
  created_at   timestamptz    NOT NULL,
  -- When a group of it was last looked at: those that wait longest are served first.
  served_at    timestamptz    NOT NULL,
  finished_at  timestamptz,
  CONSTRAINT webhook_recoveries_since_before_until CHECK (since < until),
  CONSTRAINT webhook_recoveries_completed_has_time CHECK ((state = 'COMPLETED') = (finished_at IS NOT NULL))
);
CREATE UNIQUE INDEX webhook_recoveries_one_at_once_key ON webhook_recoveries (webhook_id) WHERE state <> 'COMPLETED';
CREATE INDEX webhook_recoveries_unfinished_idx ON webhook_recoveries (served_at) WHERE state <> 'COMPLETED';
CREATE INDEX webhook_recoveries_finished_idx ON webhook_recoveries (finished_at) WHERE state = 'COMPLETED';
-- The newest of a webhook, and what is deleted with it.
CREATE INDEX webhook_recoveries_by_webhook_idx ON webhook_recoveries (webhook_id, id);
