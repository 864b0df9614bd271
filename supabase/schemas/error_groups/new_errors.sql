-- How many records of level error a step of group_errors reads at most.
create function logloom_private.error_step_records()
returns integer
language sql
immutable
return 50000;

-- Returns the write sequence at which a step ends: p_to, or an earlier one, so that a step has at
-- most error_step_records() errors. Never splits the records of one write sequence.
create function logloom_private.error_step_end(p_from bigint, p_to bigint, p_range tstzrange)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_last bigint;
begin
  select e.write_seq into v_last
  from (
    select l.write_seq
    from logloom.logs l
    where l.write_seq > p_from and l.write_seq <= p_to
      and l.ts >= lower(p_range) and l.ts < upper(p_range)
      and l.level = 'error'
    order by l.write_seq
    limit logloom_private.error_step_records() + 1
  ) e
  offset logloom_private.error_step_records();
  return case when v_last is null then p_to else greatest(v_last - 1, p_from + 1) end;
end;
$$;

-- Groups records of level error, except spans. p_source: SQL of a select with the columns of
-- logloom.logs. p_ids: how many ids and times of records each arrival has at most.
create function logloom_private.grouped_errors(p_source text, p_ids integer default 20)
returns logloom_private.error_arrival[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
-- The planner expects one record, and would choose nested loops.
set enable_nestloop = off
set jit = off
set work_mem = '32MB'
as $$
declare
  -- How many distinct errors of a tenant, by stack trace and shape, a step looks at. The rarer ones
  -- are counted in the group "others".
  v_kinds constant integer := 1000;
  v_arrivals logloom_private.error_arrival[];
begin
  -- Slow work is done once for each distinct stack trace and shape.
  execute format(
    $query$
      with found as materialized (
        %1$s
      ), shapes as materialized (
        select m.msg, logloom_private.error_shape(m.msg) as shape
        from (select distinct f.msg from found f where f.msg is not null) m
      ), told as (
        select f.*, a.a
        from found f
        cross join lateral (select logloom_private.error_attrs(f.attrs) as a offset 0) a
        where (a.a ->> 'kind' = 'span') is not true
      ), traits as (
        select
          t.tenant_id, t.ts, t.id, t.msg, left(t.service, 200) as service,
          logloom_private.error_type(t.msg, t.a) as error_type,
          logloom_private.error_stack(t.msg, t.a) as stack,
          logloom_private.release_of(t.a) as release,
          logloom_private.error_user(t.user_id, t.a) as user_hash
        from told t
        offset 0
      ), rough as materialized (
        select
          t.tenant_id, t.service, t.error_type, t.release,
          concat(t.stack, E'\n\n', s.shape) as kind, t.stack, s.shape,
          date_bin('1 hour', t.ts, 'epoch') as hour, count(*) as records, min(t.ts) as first_seen,
          max(t.ts) as last_seen,
          array_agg(t.user_hash) filter (where t.user_hash is not null) as users,
          (array_agg(t.id))[:%2$s] as ids, (array_agg(t.ts))[:%2$s] as times
        from traits t
        left join shapes s on s.msg = t.msg
        group by t.tenant_id, t.service, t.error_type, t.release, t.stack, s.shape, hour
      ), kinds as (
        select
          r.tenant_id, r.kind, min(r.stack) as stack, min(r.shape) as shape,
          row_number() over (partition by r.tenant_id order by sum(r.records) desc) as n
        from rough r
        group by r.tenant_id, r.kind
      ), known as materialized (
        select
          k.tenant_id, k.kind, logloom_private.error_place(k.stack) as place,
          logloom_private.error_template(k.shape) as template
        from kinds k
        where k.n <= %3$s
      ), named as (
        select
          r.*,
          case when k.kind is null then 'others' else logloom_private.error_fingerprint(
            r.service, r.error_type, k.place, k.template
          ) end as fingerprint,
          logloom_private.error_title(r.error_type, k.template) as title
        from rough r
        left join known k on k.tenant_id = r.tenant_id and k.kind = r.kind
      )
      select array_agg(row(
        n.tenant_id, n.fingerprint, n.service, n.error_type, n.title, n.hour, n.release,
        n.records, n.first_seen, n.last_seen, n.users, n.ids, n.times
      )::logloom_private.error_arrival)
      from named n
    $query$,
    p_source, p_ids, v_kinds
  )
  into v_arrivals;
  return coalesce(v_arrivals, '{}');
end;
$$;
