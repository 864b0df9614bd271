-- Reads of a key are counted by operation and day, for 31 days.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(6);

insert into logloom.tenants (tenant_id, plan_id)
select t, p.plan_id
from unnest(array['acme', 'umbrella']) t, logloom.plans p where p.is_default;
insert into logloom.api_keys (key_id, tenant_id, name, key_prefix, key_digest, scopes)
values
  ('00000000-0000-4000-8000-000000000001', 'acme', 'k', 'll_aaaaaaaa', sha256('key'), '{read}');

select pg_temp.act_as_service_role();
select lives_ok(
  $$select public.read_logs(encode(sha256('key'), 'hex'), o)
    from unnest(array['log_histogram', 'log_histogram']) o$$,
  'a key reads'
);
select pg_temp.act_as_postgres();
-- Adds rows like those of concurrent reads, and rows of past days.
insert into logloom_private.key_reads (key_id, day, operation, reads)
select '00000000-0000-4000-8000-000000000001', logloom_private.utc_day(now()) - d,
  'log_histogram', 5
from unnest(array[0, 33, 34]) d;

create function pg_temp.reads_of(p_tenant_id text)
returns text
language sql
as $$
  select pg_temp.by('ann', $call$(
    select string_agg(
      format('%s %s: %s', r.operation, (now() at time zone 'UTC')::date - r.day, r.reads), ', '
    )
    from unnest(logloom_private.my_key_reads(null, '00000000-0000-4000-8000-000000000001')) r
  )$call$, p_tenant_id)
$$;

select is(
  pg_temp.reads_of('acme'), 'log_histogram 0: 7, log_histogram 33: 5, log_histogram 34: 5',
  'rows of one operation and day are added up, newest day first'
);
select is(pg_temp.reads_of('umbrella'), null, 'another tenant sees nothing');
select lives_ok('select logloom_private.purge_old_rows()', 'old counts are purged');
select is(pg_temp.reads_of('acme'), 'log_histogram 0: 7', 'after 31 days the counts are gone');
delete from logloom.tenants t where t.tenant_id = 'acme';
select is_empty('select from logloom_private.key_reads', 'counts are deleted with their key');

select * from finish();
rollback;
