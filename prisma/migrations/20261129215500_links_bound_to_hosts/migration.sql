-- At the host that a workspace has of its own, only links of its emails work: finds the workspaces that have a host, whatever the scheme and port of their URL.
CREATE INDEX workspaces_by_tracking_host_idx ON workspaces (regexp_replace(tracking_url, '^https?://|[.]?(:[0-9]+)?$', '', 'g'))
  WHERE tracking_url IS NOT NULL;
