-- The list of fields matches the tables and types.
begin;
select plan(6);

create temp table fields on commit drop as
select f.name, f.type, f.sent, f.shown, f.block, f.ordinality as n
from unnest(logloom_private.record_fields()) with ordinality f;

create function pg_temp.columns_of(p_relation regclass) returns text[] language sql as $$
  select array_agg(a.attname || ' ' || format_type(a.atttypid, null) order by a.attnum)
  from pg_attribute a
  where a.attrelid = p_relation and a.attnum > 0 and not a.attisdropped
$$;

create function pg_temp.type_name(p_type text) returns text language sql as $$
  select format_type(p_type::regtype, null)
$$;

select is(
  pg_temp.columns_of('logloom.logs'),
  (select array_agg(f.name || ' ' || pg_temp.type_name(f.type) order by f.n) from fields f),
  'the list has the columns of logloom.logs in the same order'
);
select is(
  pg_temp.columns_of('public.logloom_log_record'),
  (
    select array_agg(f.name || ' ' || pg_temp.type_name(f.type) order by f.shown)
    from fields f
    where f.shown is not null
  ),
  'answers have the shown fields in the same order'
);
select is_empty(
  $$select f.name from fields f
    where f.sent
      and f.name || ' ' || pg_temp.type_name(f.type) || '[]'
        <> all(pg_temp.columns_of('logloom_private.queue'))$$,
  'the queue has a column for each field of an event'
);
select is_empty(
  $$select f.name from fields f
    where f.sent
      and f.name || ' ' || pg_temp.type_name(f.type)
        <> all(pg_temp.columns_of('logloom_private.dead_letters'))$$,
  'dead letters have a column for each field of an event'
);
select is_empty(
  $$select f.name from fields f
    where f.sent
      and 'p_' || f.name || ' ' || pg_temp.type_name(f.type) || '[]'
        <> all(pg_temp.columns_of('logloom_private.ingest_request'))$$,
  'a request of ingest has a member for each field of an event'
);
select is_empty(
  $$select f.name from fields f where f.block is null and f.name <> 'tenant_id'$$,
  'a block stores every field'
);

select * from finish();
rollback;
