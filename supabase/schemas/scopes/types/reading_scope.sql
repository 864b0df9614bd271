create type logloom_private.reader_kind as enum ('token', 'key', 'portal_session', 'view');

comment on type logloom_private.reader_kind is
  'The kind of reader: the token of a request, an API key, a portal session, or the view of a log '
  'stream or of an alert''s message, which have no request.';

-- Everything that decides what a reader gets. Only scope_of_token, scope_of_key and
-- scope_of_session make a scope; for readers without a request, scope_of_view does.
create type logloom_private.reading_scope as (
  tenant_id text,
  operations text[],
  kind logloom_private.reader_kind,
  filter jsonb,
  hidden_fields text[],
  view_id uuid,
  customer text,
  limits jsonb,
  session_id uuid,
  names_now boolean
);

comment on type logloom_private.reading_scope is
  'What a reader may see. tenant_id: the tenant of the records. filter: the records must match it '
  '(the tree of a compiled query; null: all). hidden_fields: names of fields and paths of attrs '
  'that the reader does not get (null: none). operations: those that the reader may call (null: '
  'all that read). kind: the kind of reader. view_id: the view that the reader is bound to, if '
  'any. customer, limits, session_id: those of a portal session. names_now: true if the '
  'filter is relative to now.';
