-- The database is copied with all of its files. Until begin_anew the copy's functions get no work,
-- nothing is sent, and health reports the copy.
begin;
\ir ../actors.psql
\ir ../notifications/outbox.psql
select plan(16);

update logloom_private.settings set archive_bucket = 'bucket', canary_url = 'https://a.example';
insert into logloom.log_streams (tenant_id, name, kind, config, position_seq, pending_since)
values ('acme', 's', 'webhook', '{"url": "https://example.com"}', 1, now());
insert into logloom_private.log_writes (day, write_seq)
values (logloom_private.utc_day(now()), 4711);
insert into logloom.archive_parts (
  tenant_id, first_day, last_day, write_seq, object_key, status, first_ts, last_ts, records, bytes,
  sha256, verified_at
)
values (
  'acme', '2026-01-01', '2026-01-01', 1, 'logloom/v1/a', 'verified', now(), now(), 1, 1, 'x', now()
);
insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
values ('acme', 'logloom/v1/b', 'expired');
insert into logloom_private.archived_days (tenant_id, day, write_seq)
values ('acme', '2026-01-01', 1);
select pg_temp.fire(5);

-- From now on the calls come from functions of this project. Null stands for functions of release
-- 1.0.0, which send no project.
create function pg_temp.called_by(p_url text)
returns void
language sql
as $$
  select set_config('request.headers', jsonb_build_object('x-logloom-project', p_url)::text, true)
$$;

-- Calls the three functions that claim work and returns their results.
create function pg_temp.claims()
returns text[]
language plpgsql
as $$
declare
  v_claims text[];
begin
  perform pg_temp.act_as_service_role();
  v_claims := array[
    pg_temp.attempt('select public.claim_alert_notifications(1)'),
    pg_temp.attempt('select public.claim_log_streams(1)'),
    pg_temp.attempt('select public.claim_log_archive_work()')
  ];
  perform pg_temp.act_as_postgres();
  return v_claims;
end;
$$;

-- Returns the health check of the installation, as functions of this project get it.
create function pg_temp.health(p_url text)
returns text
language plpgsql
as $$
declare
  v_health jsonb;
begin
  perform pg_temp.called_by(p_url);
  perform pg_temp.act_as_service_role();
  v_health := public.health_report() #> '{checks,installation}';
  perform pg_temp.act_as_postgres();
  return concat_ws(': ', v_health ->> 'status', v_health ->> 'state');
end;
$$;

select is(
  pg_temp.health('https://a.example'), 'healthy: installed', 'health does not note the project'
);
select pg_temp.called_by(null);
select is(
  pg_temp.claims(), '{accepted,accepted,accepted}', 'a function without a project gets work'
);
select pg_temp.called_by('https://a.example');
select is(
  pg_temp.claims(), '{accepted,accepted,accepted}',
  'the first project that claims work owns the database'
);
select is(
  (select i.project_url from logloom_private.installation i), 'https://a.example',
  'and is noted'
);
select throws_ok(
  'select logloom_private.begin_anew()', '55000',
  'This database is not a copy: only its own project calls it', 'begin_anew is refused'
);

select pg_temp.called_by('https://b.example');
select is(
  pg_temp.claims(),
  array_fill(
    'PT409 This database belongs to the project https://a.example, so functions of '
      'https://b.example get no work from it'::text,
    array[3]
  ),
  'functions of another project get no work'
);
select is(
  pg_temp.health('https://b.example'), 'unhealthy: copied, not begun anew',
  'health reports the copy'
);
select is((logloom_private.begin_canary_round()).round_id, null, 'the canary does not run');
select pg_temp.called_by(null);
select is(
  logloom_private.read_health() #>> '{checks,installation,reason}',
  'A copy of another project''s database, which neither sends nor archives: see A copy of the '
    'database in docs/guides/operations.md',
  'later calls of health report it, too'
);
select is(
  pg_temp.health('https://a.example'), 'healthy: installed',
  'a stray call is forgotten when the own project calls health'
);

select pg_temp.health('https://b.example');
select is(logloom_private.begin_anew(), 'begun anew', 'the copy becomes a project of its own');
select is(pg_temp.claims(), '{accepted,accepted,accepted}', 'then its functions get work');
select results_eq(
  $$
    select n.status, n.last_error, count(*) from logloom_private.notifications n group by 1, 2
  $$,
  $$
    values ('failed', 'The database was copied: this belongs to the original project', 2::bigint)
  $$,
  'pending notifications are dropped'
);
select results_eq(
  'select s.position_seq, s.pending_since from logloom.log_streams s',
  'values (4712::bigint, null::timestamptz)', 'streams continue with new records'
);
select is_empty(
  $$
    select p.object_key from logloom.archive_parts p
    union all select g.object_key from logloom_private.archive_garbage g
    union all select a.tenant_id from logloom_private.archived_days a
  $$,
  'files of the archive are forgotten'
);
select is(pg_temp.health('https://b.example'), 'healthy: installed', 'and health is healthy');

select * from finish();
rollback;
