-- Where links and images of a workspace's emails lead, if not where those of the installation do: scheme and host, without a slash at the end.
ALTER TABLE workspaces
  ADD COLUMN tracking_url text,
  ADD CONSTRAINT workspaces_tracking_url_check CHECK (tracking_url ~ '^https?://[a-z0-9.:\[\]-]+$' AND length(tracking_url) <= 267);
