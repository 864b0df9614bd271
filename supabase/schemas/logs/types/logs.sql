-- The rules of two columns of logloom.logs as types: the writer casts to them, so that an event
-- that breaks one fails while it is read, with its own error, not while it is inserted, which may
-- be on another node.

create domain logloom_private.log_level as text
constraint log_level_is_known check (value in ('debug', 'info', 'warn', 'error'));

create domain logloom_private.log_attrs as jsonb
constraint log_attrs_is_object check (jsonb_typeof(value) = 'object');

create type logloom_private.log_key as (ts timestamptz, id uuid);

comment on type logloom_private.log_key is 'A place in the order of a tenant''s records.';
