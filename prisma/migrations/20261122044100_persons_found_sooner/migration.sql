-- As before. Most addresses are ASCII: folding only that takes a small part of the time, and what an address is looked for in is mostly long.
CREATE OR REPLACE FUNCTION has_any_of(value text, needles text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  sought text := array_to_string(needles, '');
  folded text := CASE WHEN octet_length(sought) = char_length(sought) THEN lower(value COLLATE "C") ELSE lower(value) END;
  needle text;
BEGIN
  FOREACH needle IN ARRAY needles LOOP
    IF strpos(folded, needle) > 0 THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END
$$;
