-- The fields of an event are listed in several places, each because it has to be. This is the list
-- that the others are held against: a new field is named here first, and the test says where else.
begin;
select plan(9);

create function pg_temp.event_fields() returns text[] language sql as $$
  select array[
    'ts', 'level', 'msg', 'service', 'env', 'req_id', 'user_id', 'route', 'host', 'attrs'
  ]
$$;

-- What the service adds to them in a record.
create function pg_temp.record_fields() returns text[] language sql as $$
  select array['id', 'tenant_id', 'received_at', 'write_seq', 'record_bytes']
$$;

create function pg_temp.columns_of(p_relation regclass) returns text[] language sql as $$
  select array_agg(a.attname::text order by a.attname)
  from pg_attribute a where a.attrelid = p_relation and a.attnum > 0 and not a.attisdropped
$$;

create function pg_temp.sorted(p_names text[]) returns text[] language sql as $$
  select array_agg(n order by n collate "C") from unnest(p_names) n
$$;

select is(
  pg_temp.sorted(pg_temp.columns_of('logloom.logs')),
  pg_temp.sorted(pg_temp.event_fields() || pg_temp.record_fields()),
  'a record is an event and what the service adds'
);
select is(
  pg_temp.sorted(pg_temp.columns_of('public.logloom_log_record')),
  pg_temp.sorted(
    pg_temp.event_fields() || array['id', 'tenant_id', 'received_at']
  ),
  'what a search returns is all of it, but for the write_seq and its size'
);
select is(
  (
    select array_agg(f order by f collate "C")
    from unnest(pg_temp.event_fields()) f
    where f <> all(pg_temp.columns_of('logloom_private.queue'))
  ),
  null, 'the queue has a column for each field of an event'
);
select is(
  (
    select array_agg(f order by f collate "C")
    from unnest(pg_temp.event_fields()) f
    where f <> all(pg_temp.columns_of('logloom_private.dead_letters'))
  ),
  null, 'so have the dead letters'
);
select is(
  (
    select array_agg(f order by f collate "C")
    from unnest(pg_temp.event_fields()) f
    where 'p_' || f <> all(pg_temp.columns_of('logloom_private.ingest_request'))
  ),
  null, 'and a request of ingest'
);
select is(
  (
    select p.proargnames from pg_proc p where p.oid = 'public.ingest_logs'::regproc
  ),
  (
    select array_agg(a.attname::text order by a.attnum)
    from pg_attribute a
    where a.attrelid = 'logloom_private.ingest_request'::regclass and a.attnum > 0
  ),
  'the parameters of ingest_logs are the members of a request'
);

create temp table named as
select p.proname::text as function, f.name as field
from pg_proc p
cross join unnest(array_remove(array_remove(pg_temp.event_fields(), 'ts'), 'attrs')) f (name)
where p.pronamespace = 'logloom_private'::regnamespace
  and p.prosrc ~ format('\m(?:p_|v_)?%s\M', f.name);

create temp table namers (function text) on commit drop;
insert into namers values
  -- on the way in
  ('enqueue'), ('reject_events_out_of_range'), ('insert_records'), ('set_aside'),
  ('replay_dead_letters'),
  -- over to sealed blocks, and back
  ('sealed_records'),
  -- out
  ('log_columns_sql'), ('shown_columns_sql'), ('stage_rows_sql'), ('log_fields_sql'),
  ('query_field'), ('query_near_field'), ('query_text_columns');

select is_empty(
  $$select function from namers where function not in (select n.function from named n)$$,
  'the functions that hand a record on are there'
);
select is_empty(
  $$select w.function, f.field
    from namers w
    cross join unnest(array_remove(array_remove(pg_temp.event_fields(), 'ts'), 'attrs')) f (field)
    where not exists (
      select from named n where n.function = w.function and n.field = f.field
    )$$,
  'each of them names every field'
);
select is(
  pg_temp.sorted(logloom_private.column_fields()),
  array(
    select f
    from unnest(pg_temp.event_fields() || pg_temp.record_fields()) f
    where f not in (
      'attrs', 'id', 'level', 'msg', 'received_at', 'service', 'tenant_id', 'ts', 'write_seq'
    )
    order by f collate "C"
  ),
  'a field that has no form of its own in a block is a column of it'
);

select * from finish();
rollback;
