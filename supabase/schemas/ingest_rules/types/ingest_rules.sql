create type public.logloom_ingest_rule as (
  rule_id uuid,
  tenant_id text,
  "position" integer,
  name text,
  condition text,
  action jsonb,
  is_on boolean,
  created_by text,
  created_at timestamptz,
  updated_at timestamptz
);

comment on type public.logloom_ingest_rule is
  'A rule of a tenant. Rules apply in the order of position. condition: null for every event.';

create type public.logloom_ingest_rule_hour as (
  rule_id uuid, hour timestamptz, seen bigint, matched bigint, masked bigint, dropped bigint,
  sampled bigint, not_checked bigint, bytes bigint
);

comment on type public.logloom_ingest_rule_hour is
  'What a rule did in a UTC hour. seen, matched: events. masked: values replaced. not_checked: '
  'values that it could not check in time. dropped, sampled: events removed. bytes: bytes saved by '
  'this.';

create type public.logloom_ingest_rule_preview as (
  seen bigint, matched bigint, rule jsonb, examples public.logloom_log_record[]
);

comment on type public.logloom_ingest_rule_preview is
  'seen: records of the last hour. matched: those that the condition finds. rule: as the function '
  'ingest applies it. examples: the newest that match, at most 20, as they are stored.';
