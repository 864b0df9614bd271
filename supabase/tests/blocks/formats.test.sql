-- Blocks have a format and a checksum.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(16);

select set_config('logloom_test.sealed', 'all', true);
select pg_temp.add_records(
  (
    select jsonb_agg(jsonb_build_object(
      'ts', now() - interval '10 days' + i * interval '1 second', 'level', 'info',
      'service', 'api', 'msg', format('request %s took %s ms', i, i * 7 % 50),
      'req_id', case when i % 2 = 0 then md5(i::text) end,
      'attrs', jsonb_build_object('status', 200 + i % 3, 'path', '/p/' || i)
    ))
    from generate_series(1, 60) i
  )
);
create temp table kept as select r.* from pg_temp.all_records() r;

create function pg_temp.block()
returns logloom_private.blocks
language sql
as $$ select c from logloom_private.blocks c where c.tenant_id = 'acme' $$;

-- Returns a different value of the same type.
create function pg_temp.another(p_type regtype)
returns jsonb
language plpgsql
as $$
declare
  v_element constant text := replace(p_type::text, '[]', '');
  v_value constant jsonb := to_jsonb(case v_element
    when 'bytea' then '\x2a'
    when 'uuid' then '00000000-0000-0000-0000-00000000002a'
    when 'boolean' then 'true'
    when 'timestamp with time zone' then '2020-02-02T02:02:02Z'
    else '9'
  end);
begin
  return case when p_type::text like '%[]' then jsonb_build_array(v_value) else v_value end;
end;
$$;

-- Lists the columns of a table that are not part of the checksum.
create function pg_temp.unseen(p_table regclass)
returns setof text
language plpgsql
as $$
declare
  v_name text;
  v_type regtype;
  v_value jsonb;
  v_columns logloom_private.block_columns[];
  v_block logloom_private.blocks := pg_temp.block();
  v_changed logloom_private.blocks;
begin
  for v_name, v_type in
    select a.attname, a.atttypid
    from pg_attribute a
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
  loop
    v_value := pg_temp.another(v_type);
    v_changed := v_block;
    v_columns := array(
      select c from logloom_private.block_columns c where c.block_id = v_block.block_id
      order by c.name
    );
    if p_table = 'logloom_private.blocks'::regclass then
      v_changed := jsonb_populate_record(v_block, jsonb_build_object(v_name, v_value));
    else
      v_columns[1] := jsonb_populate_record(v_columns[1], jsonb_build_object(v_name, v_value));
    end if;
    if logloom_private.block_checksum(v_changed, v_columns) = v_block.checksum then
      return next v_name;
    end if;
  end loop;
end;
$$;

select is((pg_temp.block()).format, 1::smallint, 'a new block has the newest format');
select ok(logloom_private.block_is_intact(pg_temp.block()), 'it is intact');
select results_eq(
  $$select u from pg_temp.unseen('logloom_private.blocks') u order by u collate "C"$$,
  $$values ('block_id'), ('bytes'), ('checksum'), ('damaged_at'), ('kept_days'), ('sealed_at')$$,
  'its checksum covers every value of its records'
);
select results_eq(
  $$select u from pg_temp.unseen('logloom_private.block_columns') u order by u collate "C"$$,
  $$values ('block_id'), ('tenant_id')$$, 'and of its columns'
);

-- This version can read an older format.
select is(logloom_private.rewrite_step(), false, 'no block is of an older format');
create function pg_temp.make_older()
returns void
language sql
as $$
  update logloom_private.blocks c
  set
    format = 0,
    checksum = logloom_private.block_checksum(
      jsonb_populate_record(c, '{"format": 0}'),
      array(select k from logloom_private.block_columns k where k.block_id = c.block_id)
    )
  where c.tenant_id = 'acme'
$$;
select pg_temp.make_older();
select throws_ok(
  'select * from logloom_private.candidate_blocks(''acme'', ''-infinity'', ''infinity'', null)',
  'PT501', 'Blocks of format 0 cannot be read by this version', 'an unknown format is refused'
);
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  $$select public.search_logs(
      p_query_dsl => 'took', p_ts_from => (now() - interval '20 days')::text
    )$$,
  'PT501', null, 'a search refuses it, too'
);
select pg_temp.act_as_postgres();

create or replace function logloom_private.block_formats()
returns smallint[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ begin return '{0,1}'; end; $$;
create temp table older as select c.block_id from logloom_private.blocks c;
select results_eq(
  'select r.* from pg_temp.all_records() r order by r.id',
  'select k.* from kept k order by k.id', 'a known older format is read'
);

-- A job converts older blocks, one at a time.
update logloom_private.settings set seal_after = '1000 days';
select isnt(logloom_private.seal_step_at(now()), null, 'the job converts the block');
select is((pg_temp.block()).format, 1::smallint, 'then it has the newest format');
select ok(
  not exists (select from logloom_private.blocks c join older o using (block_id)),
  'the older block is gone'
);
select results_eq(
  'select r.* from pg_temp.all_records() r order by r.id',
  'select k.* from kept k order by k.id', 'its records are unchanged'
);
select is(logloom_private.seal_step_at(now()), null, 'nothing else is due');

-- A damaged block is neither unsealed nor converted.
select pg_temp.make_older();
update logloom_private.block_columns c set least = 7 where c.name = 'req_id';
select throws_ok(
  $$select logloom_private.unseal_day(
      'acme', logloom_private.utc_day(now() - interval '10 days')
    )$$,
  'LL001', null, 'it is not unsealed'
);
select is(logloom_private.rewrite_step(), true, 'a step tries to convert it');
select results_eq(
  $$select d.differences, d.last_error like 'LL001: Block % is damaged%',
    logloom_private.rewrite_step()
    from logloom_private.sealing_days d where d.differences > 0$$,
  'values (1, true, false)', 'and notes why it failed'
);

select * from finish();
rollback;
