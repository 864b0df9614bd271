-- Who reads what: all that decides what a reader gets. Made in scope_of_token, scope_of_key and
-- scope_of_session, for what reads without a request in scope_of_view, and nowhere else.
create type logloom_private.reading_scope as (
  tenant_id text,
  operations text[],
  actor text,
  filter jsonb,
  hidden_fields text[],
  view_id uuid
);

comment on type logloom_private.reading_scope is
  'What a reader may see: of tenant_id, the records that pass filter (the tree of a compiled '
  'query; null: all), without hidden_fields (names of fields and paths of attrs; null: none), '
  'by operations (null: all that read). actor: who reads: a user, the id of a key, or portal and '
  'the id of a session. view_id: the view that says so, where they are bound to one.';
