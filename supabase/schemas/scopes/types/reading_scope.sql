-- Who reads what: all that decides what a reader gets.
create type logloom_private.reading_scope as (
  tenant_id text,
  operations text[]
);

comment on type logloom_private.reading_scope is
  'What a reader may see: records of tenant_id, by operations (null: all that read).';
