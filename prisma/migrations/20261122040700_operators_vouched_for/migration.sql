-- A session is an account's, or of somebody whom an identity provider has vouched for, who has none here: by what name, in what role, by whose word.
ALTER TABLE operator_sessions
  ALTER COLUMN account_id DROP NOT NULL,
  ADD COLUMN issuer text,
  ADD COLUMN name   text,
  ADD COLUMN role   operator_role,
  ADD CONSTRAINT operator_sessions_whose_check
    CHECK (num_nonnulls(issuer, name, role) = CASE WHEN account_id IS NULL THEN 3 ELSE 0 END),
  -- No account has an @ in its name: nobody can be taken for one.
  ADD CONSTRAINT operator_sessions_name_check CHECK (name LIKE '%@%' AND length(name) <= 320);
