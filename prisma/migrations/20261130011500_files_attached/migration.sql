-- The files of an email, in base64 as they are sent. Most emails have none. Base64 hardly becomes smaller, so compressing it would only take time.
ALTER TABLE email_contents
  ADD COLUMN attachments json,
  ALTER COLUMN attachments SET STORAGE EXTERNAL;
