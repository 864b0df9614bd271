-- Returns at most ten values that are typical of a group. Their share of the group's records
-- exceeds their share of the other errors of the sample by at least 0.2.
create function logloom_private.error_tags(p_sample text, p_ids uuid[])
returns public.logloom_error_tag[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tags public.logloom_error_tag[];
begin
  execute format(
    $query$
      with sample as materialized (
        select s.id = any ($1) as is_in, s.env, s.route, s.host, s.user_id, s.attrs from (%s) s
      ), tagged as (
        select t.field, t.value, count(*) filter (where s.is_in) as records,
          count(*) filter (where not s.is_in) as others
        from sample s
        cross join lateral (
          select * from (
            values ('env', s.env), ('route', s.route), ('host', s.host), ('user_id', s.user_id)
          ) f (field, value)
          where f.value is not null
          union all
          select '@' || a.key, a.value #>> '{}'
          from jsonb_each(s.attrs) a
          where jsonb_typeof(a.value) in ('string', 'number', 'boolean')
            and a.key !~ '^(error|err|exception|stack)'
        ) t (field, value)
        where length(t.field) <= 100 and length(t.value) <= 200
        group by 1, 2
      ), totals as (
        select count(*) filter (where s.is_in) as records,
          count(*) filter (where not s.is_in) as others
        from sample s
      )
      select array_agg(row(b.field, b.value, b.share, b.share_of_others)
        ::public.logloom_error_tag
        order by b.share - b.share_of_others desc, b.field, b.value collate "C")
      from (
        select t.field, t.value, round(t.records::numeric / n.records, 4) as share,
          round(t.others::numeric / nullif(n.others, 0), 4) as share_of_others
        from tagged t
        cross join totals n
        where t.records > 0 and n.others > 0
          and t.records::float8 / n.records - t.others::float8 / n.others >= 0.2
        order by t.records::float8 / n.records - t.others::float8 / n.others desc, t.field,
          t.value collate "C"
        limit 10
      ) b
    $query$,
    p_sample
  )
  into v_tags
  using p_ids;
  return coalesce(v_tags, '{}');
end;
$$;

-- Returns the newest ten records with these ids, as many as fit into a page.
create function logloom_private.newest_of_group(p_sample text, p_ids uuid[])
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_logs public.logloom_log_record[];
begin
  execute format(
    $query$
      select array_agg(n.log order by n.ts desc, n.id desc)
      from (
        select
          l.ts, l.id, row(%s)::public.logloom_log_record as log,
          sum(octet_length(to_json(l)::text)) over (order by l.ts desc, l.id desc) as bytes,
          row_number() over (order by l.ts desc, l.id desc) as n
        from (%s) l
        where l.id = any ($1)
      ) n
      where n.n <= 10 and (n.n = 1 or n.bytes <= $2)
    $query$,
    logloom_private.shown_columns_sql(), p_sample
  )
  into v_logs
  using p_ids, logloom_private.list_bytes();
  if logloom_private.answered_bytes(v_logs[:1]) > logloom_private.list_bytes() then
    v_logs[1] := logloom_private.cut_record(v_logs[1], logloom_private.answered_bytes(v_logs[:1]));
  end if;
  return coalesce(v_logs, '{}');
end;
$$;

-- Returns a record that belongs to an error group. PT400 for any other record.
create function logloom_private.read_error(
  p_scope logloom_private.reading_scope,
  p_id uuid,
  p_ts timestamptz
)
returns public.logloom_log_record
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_log constant public.logloom_log_record := logloom_private.read_log(p_scope, p_id, p_ts);
begin
  if v_log.level is distinct from 'error' or v_log.attrs ->> 'kind' = 'span' then
    perform logloom_private.refuse('error_groups.record_is_no_error');
  end if;
  return v_log;
end;
$$;

create function logloom_private.fingerprint_of_record(p_log public.logloom_log_record)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.error_fingerprint(
    left(p_log.service, 200), logloom_private.error_type(p_log.msg, p_log.attrs),
    logloom_private.error_place(logloom_private.error_stack(p_log.msg, p_log.attrs)),
    logloom_private.error_template(logloom_private.error_shape(p_log.msg))
  );
end;
$$;

create function logloom_private.read_error_group(
  p_scope logloom_private.reading_scope,
  p_fingerprint text,
  p_id uuid,
  p_ts timestamptz
)
returns public.logloom_error_group_details
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because keys and OAuth clients cannot read tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_error_group');
  v_is_own constant boolean := logloom_private.makes_own_groups(v_scope);
  v_sees_people constant boolean := logloom_private.sees_addresses(v_scope);
  v_now constant timestamptz := now();
  v_log public.logloom_log_record;
  v_group logloom.error_groups;
  v_to timestamptz := v_now;
  v_sample text;
  v_arrivals logloom_private.error_arrival[];
  v_members text[];
  v_ids uuid[];
  v_details public.logloom_error_group_details;
begin
  if num_nonnulls(p_fingerprint, p_id) <> 1 then
    perform logloom_private.refuse('error_groups.group_or_record');
  end if;
  if p_id is null then
    perform logloom_private.take_search_slot(v_scope);
  else
    v_log := logloom_private.read_error(p_scope, p_id, p_ts);
    p_fingerprint := logloom_private.fingerprint_of_record(v_log);
    v_to := v_log.ts + interval '1 microsecond';
  end if;
  select g.* into v_group
  from logloom.error_groups g
  where g.tenant_id = v_scope.tenant_id and g.fingerprint = coalesce(
    (
      select m.merged_into from logloom.error_groups m
      where m.tenant_id = v_scope.tenant_id and m.fingerprint = p_fingerprint
    ),
    p_fingerprint
  );
  v_group.fingerprint := coalesce(v_group.fingerprint, p_fingerprint);
  if not v_is_own and p_id is null then
    v_to := v_group.last_seen + interval '1 microsecond';
  end if;
  v_members := v_group.fingerprint || array(
    select g.fingerprint
    from logloom.error_groups g
    where g.tenant_id = v_scope.tenant_id and g.merged_into = v_group.fingerprint
    order by 1
  );
  v_sample := logloom_private.newest_errors_sql(
    v_scope, tstzrange(v_to - interval '24 hours', v_to),
    -- In a view, does not use the stored service: the view may not show it.
    case when v_log.id is not null then coalesce(v_log.service, '')
      when not v_is_own and v_group.fingerprint <> 'others' and cardinality(v_members) = 1
        then coalesce(v_group.service, '') end,
    2000
  );
  v_arrivals := array(
    select a from unnest(logloom_private.grouped_errors(v_sample, 2000)) a
    where a.fingerprint = any (v_members)
  );
  v_ids := array(select i from unnest(v_arrivals) a cross join lateral unnest(a.ids) i);
  if v_group.tenant_id is null or v_is_own then
    select o into v_details."group"
    from logloom_private.own_error_groups(v_scope.tenant_id, v_arrivals, v_now) o;
    if not found then
      perform logloom_private.refuse('error_groups.group_not_found');
    end if;
    v_details.hours := array(
      select row(a.hour, sum(a.records))::public.logloom_error_count
      from unnest(v_arrivals) a group by a.hour order by a.hour
    );
  else
    if not v_sees_people then
      v_group.assigned_to := null;
      v_group.note := null;
    end if;
    v_details."group" := logloom_private.error_group_of(
      v_group, logloom_private.error_hours(v_scope.tenant_id, v_group.fingerprint, v_now),
      logloom_private.addresses_of_users(
        v_scope.tenant_id, array_remove(array[v_group.assigned_to], null)
      ),
      v_now
    );
    select
      coalesce(array_agg(row(c.at, c.records)::public.logloom_error_count order by c.at)
        filter (where not c.is_day), '{}'),
      coalesce(array_agg(row(c.at, c.records)::public.logloom_error_count order by c.at)
        filter (where c.is_day), '{}')
    into v_details.hours, v_details.days
    from logloom_private.error_counts c
    where c.tenant_id = v_scope.tenant_id and c.fingerprint = v_group.fingerprint
      and c.records > 0;
    v_details.merged := v_members[2:];
  end if;
  v_details.releases := array(
    select row(a.release, min(a.first_seen), max(a.last_seen), sum(a.records))
      ::public.logloom_error_release
    from unnest(v_arrivals) a
    where a.release is not null
    group by a.release
    order by max(a.last_seen) desc, a.release
    limit 50
  );
  v_details.sampled_records := cardinality(v_ids);
  v_details.newest := logloom_private.newest_of_group(v_sample, v_ids);
  v_details.tags := logloom_private.error_tags(v_sample, v_ids);
  v_details.stack := array(
    select row(f.line, f.is_own)::public.logloom_error_frame
    from logloom_private.stack_frames((
      select logloom_private.error_stack(n.msg, n.attrs)
      from unnest(v_details.newest) with ordinality n
      where logloom_private.error_stack(n.msg, n.attrs) is not null
      order by n.ordinality
      limit 1
    )) f
    order by f.n
    limit 50
  );
  return v_details;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.get_error_group(
  p_fingerprint text default null,
  p_id uuid default null,
  p_ts timestamptz default null
)
returns public.logloom_error_group_details
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_error_group(null, p_fingerprint, p_id, p_ts);
end;
$$;

comment on function public.get_error_group(text, uuid, timestamptz) is
  'An error group with its records over time, releases, tags, newest records and stack. '
  'p_fingerprint names the group, or p_id one of its records (faster with p_ts, its time). In a '
  'view, the answer comes from the newest 2000 errors of the last 24 hours. Errors: PT400, PT401, '
  'PT403, PT404, PT408, PT429.';
