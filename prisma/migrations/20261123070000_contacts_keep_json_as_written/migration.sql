-- As text: `jsonb` writes a number out, so that 6 bytes (1e308) come back as 309, and a contact of 64 KiB as 3 MB.
ALTER TABLE contacts
  DROP CONSTRAINT contacts_properties_check,
  ALTER COLUMN properties DROP DEFAULT,
  ALTER COLUMN properties TYPE json USING properties::json,
  ALTER COLUMN properties SET DEFAULT '{}',
  ADD CONSTRAINT contacts_properties_check CHECK (json_typeof(properties) = 'object');
