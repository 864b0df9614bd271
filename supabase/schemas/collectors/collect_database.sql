-- Returns the states of the database that somebody should know of, and its size. key: what the
-- state is about. weight: how bad it is. is_grave: null if it is no fault.
create function logloom_private.database_states()
returns table (kind text, key text, weight numeric, is_grave boolean, msg text, attrs jsonb)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  return query
  select 'long_transaction', concat(a.pid, ' ', a.xact_start), s.age, s.age >= 900,
    format('A transaction is open for %s s', s.age), jsonb_build_object(
      'pid', a.pid, 'user', a.usename, 'application', a.application_name, 'state', a.state,
      'seconds', s.age, 'queryid', a.query_id::text
    )
  from pg_catalog.pg_stat_activity a
  cross join floor(extract(epoch from v_now - a.xact_start)) s (age)
  where a.backend_type = 'client backend' and s.age >= 60
  union all
  select 'lock_wait', concat(l.pid, ' ', l.waitstart), s.age, s.age >= 900,
    format('A statement waits for a lock for %s s', s.age), jsonb_build_object(
      'pid', l.pid, 'blocked_by', pg_blocking_pids(l.pid), 'table', l.relation::regclass,
      'seconds', s.age
    )
  from pg_catalog.pg_locks l
  cross join floor(extract(epoch from v_now - l.waitstart)) s (age)
  where not l.granted and s.age >= 60
  union all
  select 'connections', '', c.used, c.used >= 0.95 * m.most,
    format('%s of %s connections are used', c.used, m.most),
    jsonb_build_object('used', c.used, 'limit', m.most)
  from (
    select count(*) as used from pg_catalog.pg_stat_activity a
    where a.backend_type = 'client backend'
  ) c
  cross join cast(current_setting('max_connections') as integer) m (most)
  where c.used >= 0.8 * m.most
  union all
  select 'replication_slot', r.slot_name, w.bytes, r.wal_status in ('unreserved', 'lost'),
    format('The replication slot %s holds %s of WAL', r.slot_name, pg_size_pretty(w.bytes)),
    jsonb_build_object('slot', r.slot_name, 'bytes', w.bytes, 'active', r.active)
  from pg_catalog.pg_replication_slots r
  cross join pg_wal_lsn_diff(pg_current_wal_lsn(), r.restart_lsn) w (bytes)
  where w.bytes > 1 << 30
  union all
  select 'wraparound', d.datname, x.age, x.age >= 1500000000,
    format('The oldest transaction of %s is %s old: 2 billion stop it', d.datname, x.age),
    jsonb_build_object('database', d.datname, 'age', x.age)
  from pg_catalog.pg_database d
  cross join greatest(age(d.datfrozenxid), mxid_age(d.datminmxid)) x (age)
  where x.age >= 500000000
  union all
  select 'dead_rows', t.relid::regclass::text, t.n_dead_tup, false,
    format('%s has %s dead rows and %s others', t.relid::regclass, t.n_dead_tup, t.n_live_tup),
    jsonb_build_object('table', t.relid::regclass, 'dead', t.n_dead_tup, 'live', t.n_live_tup)
  from pg_catalog.pg_stat_user_tables t
  where t.n_dead_tup >= 10000 and t.n_dead_tup >= 0.5 * t.n_live_tup
  union all
  select 'database_size', '', z.bytes, null, 'The database has ' || pg_size_pretty(z.bytes),
    jsonb_build_object('bytes', z.bytes)
  from pg_database_size(current_database()) z (bytes);
end;
$$;

-- Reads the states of the database. A lasting state is recorded again each hour, and at once when
-- its level changes. Of each kind the worst 20 are recorded, and one record has the number of
-- others. The cursor has the time of each state's last record.
create function logloom_private.collect_database(p_collector logloom_private.collectors)
returns logloom_private.collected
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select row(
      array_agg(
        logloom_private.event_of('postgres', t.kind, clock_timestamp(), t.level, t.msg, t.attrs)
        order by t.kind, t.rank
      ) filter (where t.told_at is null),
      jsonb_object_agg(t.name, coalesce(t.told_at, clock_timestamp())),
      clock_timestamp(), true, null
    )::logloom_private.collected
    from (
      select r.kind, r.rank, r.level, n.name,
        case when r.rank <= 20 then r.msg else format('%s more were left out', r.states - 20) end
          as msg,
        case when r.rank <= 20 then r.attrs else '{}' end as attrs,
        (
          select o.at
          from (select (p_collector.cursor ->> n.name)::timestamptz as at) o
          where o.at > clock_timestamp() - interval '1 hour'
        ) as told_at
      from (
        select s.*, row_number() over (partition by s.kind order by s.weight desc, s.key) as rank,
          count(*) over (partition by s.kind) as states,
          case when s.is_grave then 'error' when not s.is_grave then 'warn' else 'info' end as level
        from logloom_private.database_states() s
      ) r
      cross join concat_ws(' ', r.kind, r.level, case when r.rank <= 20 then r.key end) n (name)
      where r.rank <= 21
    ) t
  );
end;
$$;

-- Returns a statement without numbers, at most 500 characters. Null if the statement may hold other
-- values: quotes, dollar quotes, comments, or a text that pg_stat_statements does not change.
create function logloom_private.statement_text(p_query text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select left(t.text, 500)
    from btrim(regexp_replace(
      regexp_replace(left(p_query, 4000), '\s+', ' ', 'g'), '(?<![\w$])\d[\w.]*', '?', 'g'
    )) t (text)
    where t.text ~* '^[( ]*(select|insert|update|delete|merge|call|with|values|table)\M'
      and p_query !~ '[''\\]|\$(?![0-9])|--|/\*'
  );
end;
$$;

-- Reads the twenty statements of this database that took most time since the last read. The cursor
-- has the totals of all: {queryid: [ms, calls, ms of the hour, rank]}. A statement whose statistics
-- were reset counts again from the next read on.
create function logloom_private.collect_statements(p_collector logloom_private.collectors)
returns logloom_private.collected
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schema constant text := (
    select e.extnamespace::regnamespace
    from pg_catalog.pg_extension e
    where e.extname = 'pg_stat_statements'
  );
  v_new logloom_private.collected := row(null, null, clock_timestamp(), true, null);
begin
  if v_schema is null then
    raise undefined_object using message = 'The project has no extension pg_stat_statements';
  end if;
  execute format(
    $sql$
      with spent as materialized (
        select t.*, (o.value ->> 2)::numeric as old_ms, (o.value ->> 3)::integer as old_rank,
          t.ms - coalesce((o.value ->> 0)::numeric, 0) as new_ms,
          t.calls - coalesce((o.value ->> 1)::numeric, 0) as new_calls
        from (
          select s.queryid::text as id, round(sum(s.total_exec_time)::numeric, 3) as ms,
            sum(s.calls) as calls, min(left(s.query, 8000)) as query
          from %s.pg_stat_statements s
          join pg_catalog.pg_database d on d.oid = s.dbid and d.datname = current_database()
          where s.queryid is not null
          group by s.queryid
        ) t
        left join jsonb_each($1) o on o.key = t.id
      ), top as materialized (
        select p.*, row_number() over (order by p.new_ms desc, p.id) as rank
        from (
          select s.*, logloom_private.statement_text(s.query) as text
          from spent s where s.new_calls > 0 order by s.new_ms desc limit 60
        ) p
        where p.text is not null
        order by rank
        limit 20
      )
      select
        -- The first read only notes the totals.
        array_agg(logloom_private.event_of(
          'postgres', 'statement', $2, 'info', t.text, jsonb_build_object(
            'queryid', t.id, 'rank', t.rank, 'calls', t.new_calls, 'total_ms', t.new_ms,
            'mean_ms', round(t.new_ms / t.new_calls, 3), 'change_ms', t.new_ms - t.old_ms,
            'new_in_top_ten', t.rank <= 10 and (t.old_rank <= 10) is not true
          )
        ) order by t.rank) filter (where t.rank is not null and $1 <> '{}'),
        jsonb_object_agg(s.id, jsonb_build_array(
          s.ms, s.calls, case when $1 <> '{}' then s.new_ms end, t.rank
        ))
      from spent s
      left join top t on t.id = s.id
    $sql$,
    v_schema
  )
  into v_new.records, v_new.cursor
  using p_collector.cursor, v_new.read_to;
  return v_new;
end;
$$;
