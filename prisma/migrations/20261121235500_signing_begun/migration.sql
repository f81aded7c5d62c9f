ALTER TABLE dkim_keys
  -- Since when emails are signed with it: since the DNS was first seen to hold it.
  ADD COLUMN published_at timestamptz,
  -- When the first of an unbroken run of definite wrong answers came.
  ADD COLUMN wrong_since  timestamptz,
  ADD CONSTRAINT dkim_keys_wrong_was_published CHECK (wrong_since IS NULL OR published_at IS NOT NULL);

UPDATE dkim_keys k
SET    published_at = coalesce(c.checked_at, now())
FROM   domain_checks c
WHERE  c.identity_id = k.identity_id
AND    c.findings -> CASE k.algorithm WHEN 'rsa' THEN 'DKIM_RSA' ELSE 'DKIM_ED25519' END ->> 'state' = 'FOUND';

-- From now on what was found is kept by the name of its record: a domain can have several keys of a kind.
UPDATE domain_checks c
SET    findings = (
  SELECT coalesce(jsonb_object_agg(wanted.name, c.findings -> wanted.purpose), '{}')
  FROM   identities i
  CROSS JOIN LATERAL (
    SELECT 'SPF' AS purpose, i.value AS name
    UNION ALL
    SELECT 'DMARC', '_dmarc.' || i.value
    UNION ALL
    SELECT CASE k.algorithm WHEN 'rsa' THEN 'DKIM_RSA' ELSE 'DKIM_ED25519' END, k.selector || '._domainkey.' || i.value
    FROM   dkim_keys k
    WHERE  k.identity_id = i.id
  ) wanted
  WHERE  i.id = c.identity_id AND c.findings ? wanted.purpose
);
