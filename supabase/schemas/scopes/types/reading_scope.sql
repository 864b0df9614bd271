create type logloom_private.reader_kind as enum ('token', 'key', 'portal_session', 'view');

comment on type logloom_private.reader_kind is
  'By what somebody reads: the token of a request, an API key, a portal session, or, where no '
  'request asks, the view of a log stream or of an alert''s message.';

-- Who reads what: all that decides what a reader gets. Made in scope_of_token, scope_of_key and
-- scope_of_session, for what reads without a request in scope_of_view, and nowhere else.
create type logloom_private.reading_scope as (
  tenant_id text,
  operations text[],
  kind logloom_private.reader_kind,
  filter jsonb,
  hidden_fields text[],
  view_id uuid
);

comment on type logloom_private.reading_scope is
  'What a reader may see: of tenant_id, the records that pass filter (the tree of a compiled '
  'query; null: all), without hidden_fields (names of fields and paths of attrs; null: none), '
  'by operations (null: all that read). kind: by what they read. view_id: the view that says '
  'so, where they are bound to one.';
