-- What has to be known of a person who was erased, so that nothing is sent to them again: not who it is, but whether it is the one that is asked about.
CREATE TABLE erased_recipients (
  workspace_id    uuid        NOT NULL REFERENCES workspaces (id),
  address_hash    bytea       NOT NULL CHECK (octet_length(address_hash) = 32),
  -- Why they were on the suppression list; null: they were not.
  reason          suppression_reason,
  is_unsubscribed boolean     NOT NULL DEFAULT false,
  erased_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, address_hash)
);

-- The workspace is in it, so that no two workspaces can find out by their hashes that they have written to the same person.
CREATE FUNCTION erased_hash(workspace uuid, address text) RETURNS bytea
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN sha256(uuid_send(workspace) || convert_to(lower(address), 'UTF8'));

-- The same question as before; the list and the contacts know no one who was erased, so it is asked of their hash too.
-- Indexes: suppressions_workspace_email_key, contacts_workspace_email_key, erased_recipients_pkey. Locks: none.
CREATE OR REPLACE FUNCTION why_withheld(workspace uuid, address text, asks_consent boolean DEFAULT false) RETURNS text
  LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  why text;
BEGIN
  SELECT lower(s.reason::text) INTO why FROM suppressions s WHERE s.workspace_id = workspace AND lower(s.email) = lower(address);
  IF why IS NULL AND asks_consent THEN
    SELECT lower(c.status::text) INTO why
    FROM   contacts c
    WHERE  c.workspace_id = workspace AND lower(c.email) = lower(address) AND c.status = 'UNSUBSCRIBED';
  END IF;
  IF why IS NULL THEN
    SELECT coalesce(lower(e.reason::text), CASE WHEN asks_consent AND e.is_unsubscribed THEN 'unsubscribed' END) INTO why
    FROM   erased_recipients e
    WHERE  e.workspace_id = workspace AND e.address_hash = erased_hash(workspace, address);
  END IF;
  RETURN why;
END
$$;

-- Whether a text has one of these, given in lower case: quick, and true for longer addresses that end or begin with it, too.
CREATE FUNCTION has_any_of(value text, needles text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  folded text := lower(value);
  needle text;
BEGIN
  FOREACH needle IN ARRAY needles LOOP
    IF strpos(folded, needle) > 0 THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END
$$;

-- Whether a text names a person: see spellingsOf and patternOf in libs/domain.
CREATE FUNCTION names_person(value text, needles text[], pattern text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN value IS NOT NULL AND has_any_of(value, needles) AND value ~* pattern;
END
$$;

-- The text without the person.
CREATE FUNCTION without_person(value text, needles text[], pattern text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN names_person(value, needles, pattern) THEN regexp_replace(value, pattern, '[erased]', 'gi') ELSE value END;
END
$$;
