-- Who reads what: all that decides what a reader gets.
create type logloom_private.reading_scope as (
  tenant_id text,
  actor text,
  operations text[]
);

comment on type logloom_private.reading_scope is
  'What a reader may see: records of tenant_id, by operations (null: all that read). actor: the '
  'user or the API key, as audit events name it.';
