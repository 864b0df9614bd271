create type public.logloom_log_record as (
  -- fields shown joined: {name} {type}
  id uuid, tenant_id text, ts timestamptz, received_at timestamptz, level text, msg text,
  service text, env text, req_id text, user_id text, route text, host text, attrs jsonb
  -- fields end
);

comment on type public.logloom_log_record is
  'A log record. Members that the event did not have are null.';

create type public.logloom_log_page as (
  logs public.logloom_log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_page is
  'Records of [ts_from, ts_to), and the cursor of the next page; null where this is the last, '
  'and there only: a page may end early. '
  'warnings: what the query probably means otherwise.';

create type logloom_private.log_tail as (
  "first" bigint,
  id uuid,
  logs public.logloom_log_record[],
  more boolean
);

comment on type logloom_private.log_tail is
  'Where a tail stands: it goes on with the write_seq first, of which it saw what is up to id, and '
  'has found logs since. more: whether there is more to look at.';
