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
