-- Whether an email carries a way to unsubscribe, and so is not sent to who has; what a version of a template says of that for its emails.
ALTER TABLE emails ADD COLUMN unsubscribe boolean NOT NULL DEFAULT false;
ALTER TABLE template_versions ADD COLUMN unsubscribe boolean NOT NULL DEFAULT false;

-- The same question as before, and for an email that carries a way to unsubscribe also whether its recipient has. The default is for a sender
-- of the release before, which asks with two. Indexes: suppressions_workspace_email_key, contacts_workspace_email_key. Locks: none.
DROP FUNCTION why_withheld(uuid, text);
CREATE FUNCTION why_withheld(workspace uuid, address text, asks_consent boolean DEFAULT false) RETURNS text
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
  RETURN why;
END
$$;
