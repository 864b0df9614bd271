create type logloom_private.reader_kind as enum ('token', 'key', 'portal_session', 'view');

comment on type logloom_private.reader_kind is
  'The kind of reader: the token of a request, an API key, a portal session, or, without a '
  'request, the view of a log stream or of an alert''s message.';

-- Everything that decides what a reader gets. Only scope_of_token, scope_of_key, scope_of_session
-- and, for readers without a request, scope_of_view make one.
create type logloom_private.reading_scope as (
  tenant_id text,
  operations text[],
  kind logloom_private.reader_kind,
  filter jsonb,
  hidden_fields text[],
  view_id uuid
);

comment on type logloom_private.reading_scope is
  'What a reader may see: records of tenant_id that pass filter (the tree of a compiled query; '
  'null: all), without hidden_fields (names of fields and paths of attrs; null: none), by '
  'operations (null: all that read). kind: the kind of reader. view_id: the view that the reader '
  'is bound to, if any.';
