-- In the order in which records are shown.
CREATE TYPE dkim_key_stage AS ENUM ('CURRENT', 'NEXT', 'PREVIOUS');

ALTER TABLE dkim_keys
  ADD COLUMN stage      dkim_key_stage NOT NULL DEFAULT 'CURRENT',
  -- When another one took its place.
  ADD COLUMN retired_at timestamptz,
  -- What signs nothing any more is not kept.
  ALTER COLUMN private_key DROP NOT NULL,
  ADD CONSTRAINT dkim_keys_previous_is_retired CHECK ((stage = 'PREVIOUS') = (retired_at IS NOT NULL)),
  ADD CONSTRAINT dkim_keys_previous_signs_nothing CHECK ((stage = 'PREVIOUS') = (private_key IS NULL));

DROP INDEX dkim_keys_identity_algorithm_key;
CREATE UNIQUE INDEX dkim_keys_identity_algorithm_stage_key ON dkim_keys (identity_id, algorithm, stage);
