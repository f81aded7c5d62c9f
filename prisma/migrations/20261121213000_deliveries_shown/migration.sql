-- A POST that a fault of ours prevented: shown to the workspace, not charged to its receiver.
ALTER TYPE post_error_class ADD VALUE 'internal';

-- An event that did not happen: somebody tries a webhook with an example.
ALTER TABLE events ADD COLUMN is_test boolean NOT NULL DEFAULT false;
