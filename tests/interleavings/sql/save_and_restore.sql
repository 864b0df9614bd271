-- Restores the database to its state before a pair of operations ran, within milliseconds.

create table interleavings.saved_tables (
  name text primary key,
  columns text not null,
  -- The table's rows in the world (base) and before each permutation of the pair (saved).
  base text not null,
  saved text not null,
  -- True if an operation of the pair changes the table.
  is_touched boolean not null default false
);

create table interleavings.saved_days (
  day date primary key,
  is_of_base boolean not null,
  has_copy boolean not null
);

-- Lists the tables of the service. A partitioned table stands for its partitions.
create function interleavings.tables()
returns table (name text, columns text)
language plpgsql
as $$
begin
  return query
  select
    format('%I.%I', n.nspname, c.relname),
    (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
      from pg_catalog.pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    )
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where (
      n.nspname in ('logloom', 'logloom_private')
      or n.nspname = 'interleavings' and c.relname in (
        'sent', 'goes', 'batches', 'delivered', 'archive_work', 'files'
      )
    )
    and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname not like 'logs\_remaining\_%'
  order by 1;
end;
$$;

-- Returns the content of a table as one value.
create function interleavings.digest(p_table text)
returns text
language plpgsql
as $$
declare
  v_digest text;
begin
  execute format(
    'select coalesce(md5(string_agg(t::text, e''\n'' order by t::text)), '''') from %s t', p_table
  )
  into v_digest;
  return v_digest;
end;
$$;

-- Saves the world, before any set-up.
create function interleavings.save_base()
returns void
language plpgsql
as $$
declare
  v_table record;
begin
  for v_table in select t.* from interleavings.tables() t loop
    execute format(
      'create table interleavings.%I as select %s from %s',
      'base of ' || v_table.name, v_table.columns, v_table.name
    );
    insert into interleavings.saved_tables (name, columns, base, saved)
    select
      v_table.name, v_table.columns, b.name, b.name
    from format('interleavings.%I', 'base of ' || v_table.name) b (name);
  end loop;
  insert into interleavings.saved_days (day, is_of_base, has_copy)
  select d, true, false from unnest(logloom_private.partition_days()) d;
end;
$$;

-- Saves the world after the set-ups of a pair.
create function interleavings.save_pair()
returns void
language plpgsql
as $$
declare
  v_table interleavings.saved_tables;
  v_saved text;
begin
  for v_table in select t.* from interleavings.saved_tables t loop
    continue when interleavings.digest(v_table.name) = interleavings.digest(v_table.base);
    v_saved := format('interleavings.%I', 'saved ' || v_table.name);
    execute format('create table %s as select %s from %s', v_saved, v_table.columns, v_table.name);
    update interleavings.saved_tables t set saved = v_saved where t.name = v_table.name;
  end loop;
  insert into interleavings.saved_days as s (day, is_of_base, has_copy)
  select
    d, false, to_regclass(format('logloom.%I', logloom_private.remainder_name(d))) is not null
  from unnest(logloom_private.partition_days()) d
  on conflict (day) do update set has_copy = excluded.has_copy;
end;
$$;

-- Restores the world, for the next pair.
create function interleavings.end_pair()
returns void
language plpgsql
set session_replication_role = replica
as $$
declare
  v_table interleavings.saved_tables;
begin
  delete from interleavings.saved_days d where not d.is_of_base;
  update interleavings.saved_days set has_copy = false where true;
  set local role postgres;
  perform interleavings.restore_days();
  reset role;
  for v_table in select t.* from interleavings.saved_tables t loop
    if v_table.saved <> v_table.base then
      execute format('drop table %s', v_table.saved);
    end if;
    continue when interleavings.digest(v_table.name) = interleavings.digest(v_table.base);
    execute format('delete from %s where true', v_table.name);
    execute format(
      'insert into %1$s (%2$s) overriding system value select %2$s from %3$s',
      v_table.name, v_table.columns, v_table.base
    );
  end loop;
  update interleavings.saved_tables set saved = base, is_touched = false where true;
  delete from interleavings.sides where true;
  delete from interleavings.places where true;
  delete from interleavings.removed where true;
  delete from interleavings.afterwards where true;
end;
$$;

-- Notes which tables differ from the saved state: from now on restore() restores them.
create function interleavings.note_touched()
returns void
language plpgsql
as $$
declare
  v_table interleavings.saved_tables;
begin
  for v_table in select t.* from interleavings.saved_tables t where not t.is_touched loop
    if interleavings.digest(v_table.name) <> interleavings.digest(v_table.saved) then
      update interleavings.saved_tables t set is_touched = true where t.name = v_table.name;
    end if;
  end loop;
end;
$$;

-- Lists the tables that differ from the saved state.
create function interleavings.differing()
returns text
language plpgsql
as $$
begin
  return (
    select string_agg(t.name, ', ' order by t.name)
    from interleavings.saved_tables t
    where interleavings.digest(t.name) <> interleavings.digest(t.saved)
  );
end;
$$;

-- Generates restore_rows() for the touched tables, so that its plans are cached.
create function interleavings.write_restore()
returns void
language plpgsql
as $$
begin
  execute format(
    'create or replace function interleavings.restore_rows() returns void language plpgsql '
      || 'set session_replication_role = replica as $body$ begin %s end; $body$',
    coalesce(
      (
        select string_agg(
          format(
            'delete from %1$s where true; insert into %1$s (%2$s) overriding system value '
              || 'select %2$s from %3$s;',
            t.name, t.columns, t.saved
          ),
          ' '
        )
        from interleavings.saved_tables t
        where t.is_touched
      ),
      ''
    )
  );
end;
$$;

create function interleavings.restore_days()
returns void
language plpgsql
as $$
declare
  v_day record;
  v_copy text;
begin
  for v_day in
    select c.oid::regclass as name, i.inhrelid is not null as is_attached
    from pg_catalog.pg_class c
    left join pg_catalog.pg_inherits i on i.inhrelid = c.oid
    where c.relnamespace = 'logloom'::regnamespace and c.relkind = 'r'
      and (
        c.relname ~ '^logs_\d' and not exists (
          select from interleavings.saved_days d
          where c.relname = logloom_private.partition_name(d.day)
        )
        or c.relname ~ '^logs_remaining_' and not exists (
          select from interleavings.saved_days d
          where d.has_copy and c.relname = logloom_private.remainder_name(d.day)
        )
      )
  loop
    execute format('drop table %s', v_day.name);
  end loop;
  for v_day in
    select c.conname as name
    from pg_catalog.pg_constraint c
    where c.conrelid = 'logloom.logs'::regclass and c.conname like 'logs\_upgraded\_%'
  loop
    execute format('alter table logloom.logs drop constraint %I', v_day.name);
  end loop;
  for v_day in select d.day, d.has_copy from interleavings.saved_days d loop
    perform logloom_private.create_partition(v_day.day)
    where not logloom_private.partition_exists(v_day.day);
    v_copy := logloom_private.remainder_name(v_day.day);
    continue when not v_day.has_copy;
    if to_regclass(format('logloom.%I', v_copy)) is null then
      execute format('create table logloom.%I (like logloom.logs including all)', v_copy);
      execute format('alter table logloom.%I enable row level security', v_copy);
      execute format('alter table logloom.%I force row level security', v_copy);
      execute format(
        'alter table logloom.%I add constraint logs_remaining_day '
          || 'check (ts >= %L::timestamptz and ts < %L::timestamptz)',
        v_copy, logloom_private.day_start(v_day.day), logloom_private.day_start(v_day.day + 1)
      );
    end if;
    execute format('delete from logloom.%I where true', v_copy);
    execute format(
      'insert into logloom.%I select l.* from %s l '
        || 'where l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
      v_copy,
      (select t.saved from interleavings.saved_tables t where t.name = 'logloom.logs'),
      logloom_private.day_start(v_day.day), logloom_private.day_start(v_day.day + 1)
    );
  end loop;
end;
$$;

create function interleavings.restore()
returns void
language plpgsql
as $$
begin
  set local role postgres;
  perform interleavings.restore_days();
  reset role;
  perform interleavings.restore_rows();
  delete from interleavings.outcomes where true;
  perform
    setval('interleavings.reached_a', 0), setval('interleavings.reached_b', 0),
    setval('interleavings.allowed_a', 0), setval('interleavings.allowed_b', 0),
    setval('interleavings.left_out', 0), setval('interleavings.has_too_many', 0);
end;
$$;

-- Runs one side's operation alone and notes the places where it stops.
create function interleavings.run_alone(p_side text)
returns void
language plpgsql
as $$
declare
  v_begun constant bigint := interleavings.last_value('reached_' || p_side);
begin
  perform interleavings.connect(p_side, true);
  perform setval('interleavings.allowed_' || p_side, 1000000);
  perform interleavings.dblink_send_query(
    p_side,
    (
      select 'select interleavings.pause(''begin'');' || s.statements
      from interleavings.sides s
      where s.side = p_side
    )
  );
  for i in 1..10000 loop
    exit when interleavings.last_value('reached_' || p_side) > v_begun;
    perform pg_sleep(0.001);
  end loop;
end;
$$;
