-- What the workers have counted, by the minute, for the dashboard; whoever writes deletes what is a day old.
CREATE TABLE rate_minutes (
  minute timestamptz NOT NULL,
  what   text        NOT NULL,
  label  text        NOT NULL,
  count  int         NOT NULL,
  PRIMARY KEY (minute, what, label)
);

-- How each sender finds each relay; one that has not been seen for long is gone.
CREATE TABLE relay_views (
  relay    text        NOT NULL,
  observer text        NOT NULL,
  is_up    boolean     NOT NULL,
  seen_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (relay, observer)
);
