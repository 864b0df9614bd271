begin;
\ir ../actors.psql
select plan(12);

select is(
  array(
    select o.operation
    from logloom_private.reading_operations() o
    left join pg_proc p
      on p.pronamespace = 'public'::regnamespace and p.proname = o.operation
    left join pg_proc r
      on r.pronamespace = 'logloom_private'::regnamespace and r.proname = o.reader
    where (
      r.proargtypes::oid[] = 'logloom_private.reading_scope'::regtype::oid || p.proargtypes::oid[]
      and r.proargnames = 'p_scope'::text || p.proargnames
      and (r.prorettype, r.proretset) = (p.prorettype, p.proretset)
    ) is not true
  ),
  '{}'::text[], 'each reader has the parameters of its operation after a scope, and the same result'
);
select is(
  array(
    select p.proname::text
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname = any (logloom_private.operations())
      and p.proname ~ 'log(s|_|$)'
      and p.proname !~ '^(ingest|delete|read|exchange)_'
      and p.proname !~ 'retention|writer|secret|portal|stream|archive'
      and p.proname !~ 'log_(view|dashboard|tenant|plan)s?$'
    except
    select o.operation from logloom_private.reading_operations() o
  ),
  '{}'::text[], 'every operation that reads records is a reading operation'
);

select pg_temp.act_as_user('acme', 'alice');
create temp table keys as
select 'reads' as what, k.* from public.create_api_key(p_name => 'r', p_scopes => '{read}') k
union all
select 'sends', k.* from public.create_api_key(p_name => 's') k
union all
select 'late', k.*
from public.create_api_key(p_name => 'l', p_scopes => '{read}', p_expires_at => 'now+1h') k;
grant select on keys to public;
create function pg_temp.digest(p_what text)
returns text
language sql
as $$
  select encode(sha256(convert_to(k.key_value, 'UTF8')), 'hex') from keys k where k.what = p_what;
$$;

select pg_temp.act_as_service_role();
select is(
  public.read_logs(pg_temp.digest('reads'), 'search_logs', '{"p_ts_from": "now-1h"}') ->> 'logs',
  '[]', 'a key with the scope read reads'
);
select is(
  public.read_logs(
    pg_temp.digest('reads'), 'log_stats', '{"p_query_dsl": "| count() by host"}'
  )::text,
  '[]', 'no rows are an empty list'
);
select is(
  pg_temp.attempt(format('select public.read_logs(%L, ''search_logs'')', pg_temp.digest('sends'))),
  'PT403 This API key may only send', 'a key without it does not'
);
select is(
  pg_temp.attempt($$select public.read_logs('00', 'search_logs')$$),
  'PT401 Invalid token, API key, or missing tenant_id', 'an unknown key is refused'
);
select is(
  pg_temp.attempt('select public.read_logs(p_operation => ''search_logs'')'),
  'PT400 Missing required parameter: p_key_digest', 'the digest is required'
);
select is(
  pg_temp.attempt(format('select public.read_logs(%L, ''run_writer'')', pg_temp.digest('reads'))),
  'PT404 No such reading operation: run_writer', 'other operations are refused'
);

select pg_temp.act_as_postgres();
select is(
  (select k.last_used_at from logloom.api_keys k join keys u using (key_id) where u.what = 'reads'),
  now(), 'the key''s use is noted'
);
update logloom.api_keys k set expires_at = now() from keys u
where u.key_id = k.key_id and u.what = 'late';
select pg_temp.act_as_service_role();
select is(
  pg_temp.attempt(format('select public.read_logs(%L, ''search_logs'')', pg_temp.digest('late'))),
  'PT401 Invalid token, API key, or missing tenant_id', 'an expired key is refused'
);

select pg_temp.act_as_user('other', 'mallory');
select is(
  pg_temp.attempt(
    $$select logloom_private.read_log_page(
      row('acme', null, null, null, null, null, null, null, null, null)
        ::logloom_private.reading_scope,
      null, null, null, null, null, null
    )$$
  ),
  'PT403 search_logs is only for service_role', 'a user cannot pass a scope'
);
select is(
  pg_temp.attempt(
    format(
      'select logloom_private.read_by_key(%L, ''search_logs'', ''{}'', null)',
      pg_temp.digest('reads')
    )
  ),
  '42501 permission denied for function read_by_key', 'nor the digest of a key'
);

select * from finish();
rollback;
