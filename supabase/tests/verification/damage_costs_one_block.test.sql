-- Readers skip a block that a verification found damaged, with a warning; everything else is read
-- as usual. The receipt of an erasure lists the damaged block.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(18);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('other', 'free');
select set_config('logloom_test.sealed', 'all', true);
select pg_temp.add_records(
  (
    select jsonb_agg(jsonb_build_object(
      'tenant', t.tenant_id, 'ago', format('%s days', a.ago), 'service', 'api', 'level', 'info',
      'msg', format('request %s of day %s', i, a.ago), 'req_id', 'r-' || i
    ))
    from generate_series(1, 30) i, (values ('acme'), ('other')) t (tenant_id)
  ),
  a.ago
)
from (values (10), (9)) a (ago);

create function pg_temp.flip()
returns void
language sql
as $$
  update logloom_private.blocks b
  set digits = set_byte(b.digits || ''::bytea, 0, get_byte(b.digits, 0) # 1)
  where b.tenant_id = 'acme'
    and b.block_id = (
      select min(l.block_id) from logloom_private.blocks l where l.tenant_id = 'acme'
    )
$$;

create function pg_temp.verify()
returns bigint
language sql
as $$
  select pg_temp.repeat_while('logloom_private.verify_on()');
  select v.differences
  from logloom_private.verifications v
  order by v.verification_id desc
  limit 1
$$;

-- Returns how many records a user finds, how many warnings there are, and the first warning.
create function pg_temp.found(p_query text)
returns text
language plpgsql
as $$
declare
  v_page public.logloom_log_page;
begin
  v_page := public.search_logs(p_query, 'now-20d', 'now', 100);
  return concat_ws(
    ' ', cardinality(v_page.logs), cardinality(v_page.warnings), (v_page.warnings[1]).message
  );
end;
$$;

select pg_temp.flip();
select is(pg_temp.verify(), 1::bigint, 'one block is damaged');
select is(
  (select count(*)::integer from logloom_private.blocks b where b.damaged_at is not null), 1,
  'and is marked'
);

select pg_temp.act_as_user('acme', 'u1');
select is(
  pg_temp.found('*'), '30 1 some stored records are damaged and left out',
  'a page has the records of the other block, with a warning'
);
select is(
  pg_temp.found('"of day"'), '30 1 some stored records are damaged and left out',
  'also with a filter'
);
select is(
  pg_temp.found('req_id:r-7'), '1 1 some stored records are damaged and left out',
  'also with a value in the Bloom filters'
);
select is(
  (
    select array_agg((s.values ->> 'count')::integer)
    from public.log_stats('"of day" | count()', 'now-20d', 'now') s
  ),
  '{30}', 'a count includes the other block only'
);
select is(
  (
    select array_agg(cardinality(s.warnings))
    from public.log_stats('"of day" | count() by req_id | limit 1', 'now-20d', 'now') s
  ),
  '{1}', 'and warns'
);
select is(
  (
    select array_agg((s.values ->> 'count')::integer)
    from public.log_stats('* | patterns', 'now-20d', 'now') s
  ),
  '{30}', 'patterns include the other block only'
);
select is(
  (
    select count(*)::integer
    from public.list_log_fields('', 'now-20d', 'now') f
    where f.field = 'msg'
  ),
  1, 'fields are listed'
);
select is(
  (public.log_series('* | count()', 'now-20d', 'now')).warnings[1].message,
  'some stored records are damaged and left out', 'a series warns'
);
select is(
  cardinality((public.tail_logs('', pg_temp.cursor_of('tail', '1'), 1000)).logs),
  30, 'a tail continues'
);
select pg_temp.act_as_postgres();
select pg_temp.act_as_user('other', 'u1');
select is(pg_temp.found('*'), '60 0', 'another tenant has lost nothing');
select pg_temp.act_as_postgres();

-- An erasure notices damage itself.
update logloom_private.blocks b set damaged_at = null where b.tenant_id = 'acme';
insert into logloom.retention_runs (
  tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
)
values (
  'acme', 'erasure', 'queued', 'u1', now(), 'req_id:r-7', now() - interval '20 days', now(), false
);
select pg_temp.repeat_while('logloom_private.run_deletion_step() is not null');
select results_eq(
  $$select r.status, r.records from logloom.retention_runs r where r.tenant_id = 'acme'$$,
  $$values ('done', 1::bigint)$$, 'an erasure deletes from the intact block'
);
select results_eq(
  $$
    select n ->> 'kind', (n ->> 'records')::integer, (n ->> 'ts_from')::timestamptz
    from logloom.retention_runs r, jsonb_array_elements(r.not_reached) n
    where r.tenant_id = 'acme' and n ->> 'kind' <> 'exports'
  $$,
  $$
    select 'damaged_block', c.records, c.first_ts
    from logloom_private.blocks c
    where c.tenant_id = 'acme' and c.damaged_at is not null
  $$,
  'its receipt lists the damaged block'
);
select is(
  (select count(*)::integer from logloom_private.blocks c where c.damaged_at is not null), 1,
  'and marks it'
);

select pg_temp.flip();
select is(pg_temp.verify(), 0::bigint, 'a repaired block is no difference');
select is(
  (select count(*)::integer from logloom_private.blocks b where b.damaged_at is not null), 0,
  'and is no longer marked'
);
select pg_temp.act_as_user('acme', 'u1');
select is(pg_temp.found('*'), '59 0', 'all other records are found again');

select * from finish();
rollback;
