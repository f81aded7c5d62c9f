-- Why a sender cannot use a relay, for the dashboard and the doctor.
ALTER TABLE relay_views ADD COLUMN reason text;
