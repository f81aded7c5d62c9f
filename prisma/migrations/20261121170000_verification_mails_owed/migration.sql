-- The mail with a link, encrypted, as long as it is owed: what is sealed has still to be handed over for sending.
ALTER TABLE verification_links ADD COLUMN sealed_mail bytea;
CREATE INDEX verification_links_owed_idx ON verification_links (id) WHERE sealed_mail IS NOT NULL;
