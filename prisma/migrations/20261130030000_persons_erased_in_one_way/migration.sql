ALTER TABLE erasures
  -- Emails, contacts and events of the person that are newer stay: whoever comes back is not erased again.
  ADD COLUMN erases_until timestamptz NOT NULL DEFAULT now(),
  -- Who erases the person in all workspaces, for the audit logs of those in which something is found; null: it was asked for in this one.
  ADD COLUMN operator     jsonb;
