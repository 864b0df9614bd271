-- Types with the rules of two columns of logloom.logs. The writer casts to them, so a bad event
-- fails with its own error when it is read. Otherwise it would fail when it is inserted, possibly
-- on another node.

create domain logloom_private.log_level as text
constraint log_level_is_known check (value in ('debug', 'info', 'warn', 'error'));

create domain logloom_private.log_attrs as jsonb
constraint log_attrs_is_object check (jsonb_typeof(value) = 'object');

create type logloom_private.log_key as (ts timestamptz, id uuid);

comment on type logloom_private.log_key is
  'A position in the order of a tenant''s records.';
