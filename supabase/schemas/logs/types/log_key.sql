create type logloom_private.log_key as (ts timestamptz, id uuid);

comment on type logloom_private.log_key is 'A place in the order of a tenant''s records.';
