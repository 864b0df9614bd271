-- Evaluation of alert rules: at every whole minute that the watermark passes, each enabled rule's
-- value over the window that ends there is compared with its threshold.
--
-- Rules of one tenant with the same filter and the same number in the aggregate are a group. A
-- group keeps partial values per minute of ts and adds to them the records that arrived since the
-- last round, so that a round costs what arrived, not the size of the windows. What has no partial
-- values (percentiles, distinct counts, a filter that names now) reads its window.

alter table private.settings
  add column alert_grace interval not null default '2 minutes',
  add column alert_watermark_limit interval not null default '2 minutes',
  add column alert_catch_up_limit interval not null default '1 hour',
  add column alert_round_limit interval not null default '5 minutes';

comment on column private.settings.alert_grace is
  'A window stays open for so long after its end: a late record that arrives meanwhile counts.';
comment on column private.settings.alert_watermark_limit is
  'Rules wait while the watermark is further behind, and health is degraded.';
comment on column private.settings.alert_catch_up_limit is
  'After a wait, windows that ended longer ago are not evaluated any more.';
comment on column private.settings.alert_round_limit is
  'Health: degraded when the last round''s windows ended longer ago, while rules are enabled.';

create table private.alert_groups (
  group_id bigint generated always as identity primary key,
  tenant_id text not null references app.tenants on delete cascade,
  digest bytea not null,
  filter text not null,
  number_sql text not null,
  arrival bigint,
  filled_from timestamptz,
  constraint alert_groups_digest_is_unique unique (tenant_id, digest),
  constraint alert_groups_filling_is_whole check ((arrival is null) = (filled_from is null))
);

create table private.alert_partials (
  group_id bigint not null references private.alert_groups on delete cascade,
  minute timestamptz not null,
  events bigint not null,
  numbers bigint not null,
  total numeric,
  least numeric,
  greatest numeric,
  primary key (group_id, minute)
)
with (fillfactor = 70);

create table private.alert_plans (
  rule_id uuid primary key references app.alert_rules on delete cascade,
  tenant_id text not null references app.tenants on delete cascade,
  query_dsl text not null,
  aggregate text not null,
  aggregate_sql text not null,
  filter text not null,
  names_now boolean not null,
  group_id bigint references private.alert_groups on delete cascade
);

create table private.alert_resets (
  tenant_id text not null
);

create table private.alert_rounds (
  singleton boolean primary key default true,
  window_end timestamptz not null,
  arrival_from bigint not null,
  arrival_to bigint not null,
  finished_at timestamptz,
  constraint alert_rounds_has_one_row check (singleton)
);

create index alert_resets_tenant_id_idx on private.alert_resets (tenant_id);
create index alert_plans_tenant_id_idx on private.alert_plans (tenant_id);
create index alert_plans_group_id_idx on private.alert_plans (group_id);

alter table private.alert_groups enable row level security;
alter table private.alert_groups force row level security;
alter table private.alert_partials enable row level security;
alter table private.alert_partials force row level security;
alter table private.alert_plans enable row level security;
alter table private.alert_plans force row level security;
alter table private.alert_resets enable row level security;
alter table private.alert_resets force row level security;
alter table private.alert_rounds enable row level security;
alter table private.alert_rounds force row level security;

create type private.alert_window as (
  rule_id uuid,
  window_start timestamptz,
  window_end timestamptz,
  value double precision,
  error text
);

-- The watermark

create function private.enqueue_timeout()
returns interval
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    -- A bare number is milliseconds, as everywhere in PostgreSQL's settings.
    select max(
      (case when t.timeout ~ '^[0-9]+$' then t.timeout || ' ms' else t.timeout end)::interval
    )
    from (
      select split_part(c.setting, '=', 2) as timeout
      from pg_catalog.pg_proc p, unnest(p.proconfig) c (setting)
      where p.pronamespace = 'public'::regnamespace
        and p.proname in ('ingest_logs', 'ingest_requests')
        and c.setting like 'statement_timeout=%'
    ) t
  );
end;
$$;

create function private.watermark(p_oldest_queued timestamptz)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_writer_started_at timestamptz;
begin
  -- A run that failed left its batches in the queue, so its start is as good as another's.
  select h.last_started_at into v_writer_started_at
  from private.job_heartbeats h
  where h.job = 'write_logs';
  if v_writer_started_at is null then
    return null;
  end if;
  return least(p_oldest_queued, v_writer_started_at - private.enqueue_timeout());
end;
$$;

create function private.watermark()
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return private.watermark((private.queue_state()).oldest_received_at);
end;
$$;

create function private.whole_minute(p_at timestamptz)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return date_bin('1 minute', p_at, 'epoch');
end;
$$;

-- Plans and groups

-- The numeric expression of an aggregate over an attribute's numbers, over the alias l.
create function private.alert_number_sql(p_aggregate text, p_field text)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_aggregate in ('count', 'rate') then
    return 'null::numeric';
  end if;
  return 'private.json_number('
    || private.query_value_sql(private.query_field(p_field, 1), 'l') || ')';
end;
$$;

create function private.has_partials(p_aggregate text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_aggregate in ('count', 'rate', 'sum', 'avg', 'min', 'max');
end;
$$;

-- Whether a query means something else as time goes by: it compiles to something else in 100
-- years, the longest shift from now.
create function private.names_now(p_query_dsl text, p_now timestamptz)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (private.compile_query(p_query_dsl, p_now)).filter
    <> (private.compile_query(p_query_dsl, p_now + interval '100 years')).filter;
end;
$$;

create function private.plan_alert_rule(p_rule_id uuid, p_now timestamptz)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_rule app.alert_rules;
  v_query private.compiled_query;
  v_plan private.alert_plans;
  v_number_sql text;
  v_digest bytea;
begin
  delete from private.alert_plans p where p.rule_id = p_rule_id;
  select r.* into v_rule from app.alert_rules r where r.rule_id = p_rule_id;
  v_query := private.compile_query(v_rule.query_dsl, p_now);
  v_plan.aggregate := coalesce(v_query.aggregate, 'count');
  v_plan.names_now := private.names_now(v_rule.query_dsl, p_now);
  if private.has_partials(v_plan.aggregate) and not v_plan.names_now then
    v_number_sql := private.alert_number_sql(v_plan.aggregate, v_query.aggregate_field);
    v_digest := sha256(convert_to(jsonb_build_array(v_query.filter, v_number_sql)::text, 'UTF8'));
    insert into private.alert_groups (tenant_id, digest, filter, number_sql)
    values (v_rule.tenant_id, v_digest, v_query.filter, v_number_sql)
    on conflict (tenant_id, digest) do nothing;
    select g.group_id into v_plan.group_id
    from private.alert_groups g
    where g.tenant_id = v_rule.tenant_id and g.digest = v_digest;
  end if;
  insert into private.alert_plans (
    rule_id, tenant_id, query_dsl, aggregate, aggregate_sql, filter, names_now, group_id
  )
  values (
    p_rule_id, v_rule.tenant_id, v_rule.query_dsl, v_plan.aggregate,
    coalesce(v_query.aggregate_sql, 'count(*)::double precision'), v_query.filter,
    v_plan.names_now, v_plan.group_id
  );
end;
$$;

-- Partial values per minute of what p_source selects: SQL that yields the columns of app.logs.
create function private.alert_partials_sql(p_source text, p_filter text, p_number_sql text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- "offset 0" has the number computed once a record, not once an aggregate.
  return 'select m.minute, count(*) as events, count(m.number) as numbers, sum(m.number) as total, '
    || 'min(m.number) as least, max(m.number) as greatest '
    || 'from (select date_bin(''1 minute'', l.ts, ''epoch'') as minute, ' || p_number_sql
    || ' as number from (' || p_source || ') l where (' || p_filter || ') offset 0) m '
    || 'group by m.minute';
end;
$$;

-- Brings a group to p_arrival_to: adds the staged records, or reads the windows anew where the
-- staged ones would leave a gap.
create function private.advance_alert_group(
  p_group_id bigint,
  p_from timestamptz,
  p_round private.alert_rounds
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_group private.alert_groups;
  v_source text;
begin
  select g.* into v_group from private.alert_groups g where g.group_id = p_group_id;
  if v_group.arrival >= p_round.arrival_from and v_group.filled_from <= p_from then
    v_source := 'select s.* from pg_temp.alert_arrivals s '
      || 'where s.tenant_id = $2 and s.arrival > $4 and s.arrival <= $5 and s.ts >= $3';
    delete from private.alert_partials p where p.group_id = p_group_id and p.minute < p_from;
  else
    v_source := 'select s.* from app.logs s '
      || 'where s.tenant_id = $2 and s.ts >= $3 and s.arrival > $4 and s.arrival <= $5';
    delete from private.alert_partials p where p.group_id = p_group_id;
    v_group.arrival := -1;
  end if;
  execute 'insert into private.alert_partials as p '
    || '(group_id, minute, events, numbers, total, least, greatest) '
    || 'select $1, n.* from ('
    || private.alert_partials_sql(v_source, v_group.filter, v_group.number_sql)
    || ') n on conflict (group_id, minute) do update set '
    || 'events = p.events + excluded.events, numbers = p.numbers + excluded.numbers, '
    || 'total = coalesce(p.total + excluded.total, p.total, excluded.total), '
    || 'least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest)'
  using p_group_id, v_group.tenant_id, p_from, v_group.arrival, p_round.arrival_to;
  update private.alert_groups g
  set arrival = greatest(v_group.arrival, p_round.arrival_to), filled_from = p_from
  where g.group_id = p_group_id;
end;
$$;

-- What is deleted or changed was added up before. Noted in rows of its own, so that a deletion and
-- a round never wait for each other.
create function private.note_removed_records()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because nobody writes notes but through a change of the records
begin
  insert into private.alert_resets (tenant_id)
  select distinct r.tenant_id
  from removed_records r
  -- Further back than any window reaches.
  where r.ts > now() - interval '3 days'
    and exists (select from private.alert_groups g where g.tenant_id = r.tenant_id);
  return null;
end;
$$;

create trigger logs_reset_alerts_deleted
after delete on app.logs
referencing old table as removed_records
for each statement execute function private.note_removed_records();

create trigger logs_reset_alerts_updated
after update on app.logs
referencing old table as removed_records
for each statement execute function private.note_removed_records();

create function private.reset_alert_groups(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  delete from private.alert_resets r where r.tenant_id = p_tenant_id;
  if found then
    update private.alert_groups g set arrival = null, filled_from = null
    where g.tenant_id = p_tenant_id;
  end if;
end;
$$;

-- Values

create function private.alert_condition_holds(
  p_value double precision,
  p_comparison text,
  p_threshold double precision
)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return coalesce(
    case p_comparison
      when 'gt' then p_value > p_threshold
      when 'gte' then p_value >= p_threshold
      when 'lt' then p_value < p_threshold
      when 'lte' then p_value <= p_threshold
      when 'eq' then p_value = p_threshold
      when 'neq' then p_value <> p_threshold
    end,
    false
  );
end;
$$;

create function private.partial_value(
  p_aggregate text,
  p_window_minutes integer,
  p_events numeric,
  p_numbers numeric,
  p_total numeric,
  p_least numeric,
  p_greatest numeric
)
returns double precision
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case p_aggregate
    when 'count' then coalesce(p_events, 0)
    when 'rate' then coalesce(p_events, 0)::double precision / p_window_minutes
    when 'sum' then private.finite_double(coalesce(p_total, 0))
    when 'avg' then private.finite_double(p_total / nullif(p_numbers, 0))
    when 'min' then private.finite_double(p_least)
    when 'max' then private.finite_double(p_greatest)
  end;
end;
$$;

-- The value over a window as the records say it. p_now is what now means in the query.
create function private.window_value(
  p_tenant_id text,
  p_filter text,
  p_aggregate text,
  p_aggregate_sql text,
  p_window_start timestamptz,
  p_window_end timestamptz
)
returns double precision
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_value double precision;
begin
  execute 'select ' || p_aggregate_sql
    || ' from app.logs l where l.tenant_id = $1 and l.ts >= $2 and l.ts < $3 and ('
    || p_filter || ')'
  into v_value
  using p_tenant_id, p_window_start, p_window_end;
  if p_aggregate = 'rate' then
    return v_value * 60 / extract(epoch from p_window_end - p_window_start)::double precision;
  end if;
  return v_value;
end;
$$;

-- Firing

create function private.fire_alert(
  p_rule app.alert_rules,
  p_window private.alert_window,
  p_now timestamptz
)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_cooldown constant interval := make_interval(mins => p_rule.cooldown_minutes);
  v_alert app.alert_history;
begin
  -- From window to window, so that the moments at which rounds happen to run do not matter. In
  -- both directions: a late record may make an earlier window fire after a later one did.
  if exists (
    select from app.alert_history h
    where h.rule_id = p_rule.rule_id
      and h.window_end > p_window.window_end - v_cooldown
      and h.window_end < p_window.window_end + v_cooldown
  ) then
    return false;
  end if;
  insert into app.alert_history (
    tenant_id, rule_id, triggered_at, value, threshold, window_start, window_end
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, p_now, p_window.value, p_rule.threshold,
    p_window.window_start, p_window.window_end
  )
  on conflict (rule_id, window_end) do nothing
  returning * into v_alert;
  if not found then
    return false;
  end if;
  perform private.enqueue_alert_notifications(p_rule, v_alert);
  return true;
end;
$$;

-- Rounds

create function private.stage_alert_arrivals(p_round private.alert_rounds, p_from timestamptz)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set enable_seqscan = off
as $$
declare
  -- In a variable, because the checker takes a table that it does not find for an error.
  v_staged constant text := 'pg_temp.alert_arrivals';
begin
  -- Once for all tenants and groups. Temporary, because it is nobody's but this round's.
  if to_regclass(v_staged) is null then
    execute 'create temp table ' || v_staged || ' (like app.logs)';
    execute 'create index on ' || v_staged || ' (tenant_id)';
  else
    execute 'truncate ' || v_staged;
  end if;
  execute 'insert into ' || v_staged || ' select l.* '
    || 'from (select distinct p.tenant_id from private.alert_plans p) t '
    || 'join app.logs l on l.tenant_id = t.tenant_id '
    || 'where l.arrival > $1 and l.arrival <= $2 and l.ts >= $3'
  using p_round.arrival_from, p_round.arrival_to, p_from;
end;
$$;

create function private.last_arrival(p_after bigint)
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- A day that is dropped takes its arrivals with it.
  return greatest(p_after, (select max(a.arrival) from private.log_arrivals a));
end;
$$;

create function private.begin_alert_round(p_now timestamptz, p_watermark timestamptz)
returns private.alert_rounds
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings private.settings;
  v_last private.alert_rounds;
  v_round private.alert_rounds;
  v_window_minutes integer;
  v_from timestamptz;
begin
  select s.* into v_settings from private.settings s;
  -- Locked, so that a second evaluator continues this round instead of opening the same again.
  select r.* into v_last from private.alert_rounds r for update;
  select max(r.window_minutes) into v_window_minutes from app.alert_rules r where r.enabled;
  v_round.window_end := private.whole_minute(p_watermark);
  if v_window_minutes is null
    or p_watermark is null
    or p_now - p_watermark > v_settings.alert_watermark_limit
    or (v_round.window_end <= v_last.window_end and v_last.finished_at is not null)
  then
    return null;
  end if;

  v_from := v_round.window_end - make_interval(mins => v_window_minutes)
    - v_settings.alert_grace - v_settings.alert_catch_up_limit;
  v_round.singleton := true;
  if v_last.window_end > v_round.window_end - v_settings.alert_catch_up_limit then
    -- A round that was cut short is done again from where it began.
    v_round.arrival_from := case
      when v_last.finished_at is null then v_last.arrival_from
      else v_last.arrival_to
    end;
    v_round.arrival_to := private.last_arrival(v_last.arrival_to);
  else
    -- Too long ago: every group reads its windows anew.
    v_round.arrival_to := private.last_arrival(0);
    v_round.arrival_from := v_round.arrival_to;
  end if;

  insert into private.alert_rounds (window_end, arrival_from, arrival_to)
  values (v_round.window_end, v_round.arrival_from, v_round.arrival_to)
  on conflict (singleton) do update
  set window_end = excluded.window_end,
    arrival_from = excluded.arrival_from,
    arrival_to = excluded.arrival_to,
    finished_at = null;
  perform private.stage_alert_arrivals(v_round, v_from);
  return v_round;
end;
$$;

create function private.due_alert_windows(p_tenant_id text, p_round private.alert_rounds)
returns private.alert_window[]
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_staged constant text := 'pg_temp.alert_arrivals';
  v_first_staged timestamptz;
begin
  execute 'select min(s.ts) from ' || v_staged || ' s where s.tenant_id = $1'
  into v_first_staged
  using p_tenant_id;
  return (
    select array_agg(
      row(
        r.rule_id, e.window_end - make_interval(mins => r.window_minutes), e.window_end, null, null
      )::private.alert_window
      order by e.window_end, r.rule_id
    )
    from app.alert_rules r
    cross join private.settings s
    cross join lateral generate_series(
      greatest(
        least(r.last_evaluated_at + interval '1 minute', p_round.window_end - s.alert_grace),
        p_round.window_end - s.alert_catch_up_limit
      ),
      p_round.window_end,
      '1 minute'
    ) e (window_end)
    where r.tenant_id = p_tenant_id
      and r.enabled
      -- Of the time before a rule was what it is now, only the last window.
      and (
        e.window_end = p_round.window_end
        or (r.last_evaluated_at is not null and e.window_end > r.updated_at)
      )
      -- A window that was evaluated is looked at again only where something came late.
      and (
        r.last_evaluated_at is null
        or e.window_end > r.last_evaluated_at
        or e.window_end > v_first_staged
      )
  );
end;
$$;

create function private.evaluate_tenant_alerts(
  p_tenant_id text,
  p_round private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_windows private.alert_window[];
  v_rescans private.alert_window[];
  v_errors jsonb := '{}';
  v_group record;
  v_rule_id uuid;
  v_scan record;
  v_query private.compiled_query;
  v_value double precision;
  v_fired integer := 0;
  v_hit record;
begin
  -- Two evaluators never share a tenant; what one leaves undone the next round does.
  if not pg_try_advisory_xact_lock(hashtext('logloom:alerts'), hashtext(p_tenant_id)) then
    return 0;
  end if;

  for v_rule_id in
    select r.rule_id
    from app.alert_rules r
    left join private.alert_plans p on p.rule_id = r.rule_id
    where r.tenant_id = p_tenant_id and r.enabled
      and p.query_dsl is distinct from r.query_dsl
    order by r.rule_id
  loop
    begin
      perform private.plan_alert_rule(v_rule_id, p_now);
    exception when others then
      v_errors := v_errors || jsonb_build_object(v_rule_id, sqlerrm);
    end;
  end loop;
  delete from private.alert_groups g
  where g.tenant_id = p_tenant_id
    and not exists (select from private.alert_plans p where p.group_id = g.group_id);

  perform private.reset_alert_groups(p_tenant_id);
  v_windows := private.due_alert_windows(p_tenant_id, p_round);

  for v_group in
    select p.group_id, min(w.window_start) as needed_from
    from unnest(v_windows) w
    join private.alert_plans p on p.rule_id = w.rule_id
    where p.group_id is not null
    group by p.group_id
    order by p.group_id
  loop
    begin
      perform private.advance_alert_group(
        v_group.group_id,
        v_group.needed_from - (select s.alert_grace from private.settings s),
        p_round
      );
    exception when others then
      v_errors := v_errors || (
        select jsonb_object_agg(p.rule_id, sqlerrm)
        from private.alert_plans p
        where p.group_id = v_group.group_id
      );
      update private.alert_groups g set arrival = null, filled_from = null
      where g.group_id = v_group.group_id;
    end;
  end loop;

  -- Rules that read their windows share what is the same.
  v_rescans := '{}';
  for v_scan in
    select
      p.filter, p.aggregate, p.aggregate_sql, w.window_start, w.window_end,
      case when p.names_now then p.query_dsl end as query_dsl,
      array_agg(w.rule_id) as rule_ids
    from unnest(v_windows) w
    join private.alert_plans p on p.rule_id = w.rule_id
    where p.group_id is null
    group by 1, 2, 3, 4, 5, 6
  loop
    begin
      if v_scan.query_dsl is not null then
        v_query := private.compile_query(v_scan.query_dsl, v_scan.window_end);
        v_scan.filter := v_query.filter;
      end if;
      v_value := private.window_value(
        p_tenant_id, v_scan.filter, v_scan.aggregate, v_scan.aggregate_sql,
        v_scan.window_start, v_scan.window_end
      );
      v_rescans := v_rescans || array(
        select row(u.rule_id, v_scan.window_start, v_scan.window_end, v_value, null)
          ::private.alert_window
        from unnest(v_scan.rule_ids) u (rule_id)
      );
    exception when others then
      v_errors := v_errors || (
        select jsonb_object_agg(u.rule_id, sqlerrm) from unnest(v_scan.rule_ids) u (rule_id)
      );
    end;
  end loop;

  v_windows := v_rescans || (
    select array_agg(
      row(
        w.rule_id, w.window_start, w.window_end,
        private.partial_value(
          p.aggregate, (extract(epoch from w.window_end - w.window_start) / 60)::integer,
          t.events, t.numbers, t.total, t.least, t.greatest
        ),
        null
      )::private.alert_window
    )
    from unnest(v_windows) w
    join private.alert_plans p on p.rule_id = w.rule_id
    cross join lateral (
      select
        sum(m.events) as events, sum(m.numbers) as numbers, sum(m.total) as total,
        min(m.least) as least, max(m.greatest) as greatest
      from private.alert_partials m
      where m.group_id = p.group_id and m.minute >= w.window_start and m.minute < w.window_end
    ) t
    where p.group_id is not null and not v_errors ? w.rule_id::text
  );

  for v_hit in
    select r as rule, w as seen
    from unnest(v_windows) w
    join app.alert_rules r on r.rule_id = w.rule_id
    where not v_errors ? w.rule_id::text
      and private.alert_condition_holds(w.value, r.comparison, r.threshold)
    order by w.window_end, w.rule_id
  loop
    begin
      if private.fire_alert(v_hit.rule, v_hit.seen, p_now) then
        v_fired := v_fired + 1;
      end if;
    exception when others then
      v_errors := v_errors || jsonb_build_object((v_hit.rule).rule_id, sqlerrm);
    end;
  end loop;

  update app.alert_rules r
  set
    last_evaluated_at = p_round.window_end,
    last_value = (
      select w.value from unnest(v_windows) w
      where w.rule_id = r.rule_id and w.window_end = p_round.window_end
    ),
    last_error = v_errors ->> r.rule_id::text
  where r.tenant_id = p_tenant_id and r.enabled;
  return v_fired;
end;
$$;

-- No set clause and not definer: such a procedure could not commit. Every name is qualified.
create procedure private.evaluate_alerts()
language plpgsql
security invoker
as $$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_round private.alert_rounds;
  v_tenant_ids text[];
  v_tenant_id text;
  v_fired integer := 0;
  v_error text;
begin
  begin
    v_round := private.begin_alert_round(v_started_at, private.watermark());
  exception when others then
    v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
  end;
  commit;
  if v_round.window_end is not null then
    v_tenant_ids := array(
      select distinct r.tenant_id from app.alert_rules r
      where r.enabled and r.last_evaluated_at is distinct from v_round.window_end
    );
    foreach v_tenant_id in array v_tenant_ids loop
      begin
        v_fired := v_fired
          + private.evaluate_tenant_alerts(v_tenant_id, v_round, pg_catalog.clock_timestamp());
      exception when others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      end;
      commit;
    end loop;
    update private.alert_rounds set finished_at = pg_catalog.clock_timestamp() where singleton;
    commit;
  end if;
  if v_fired > 0 then
    -- Not to wait for the job of that name. What it meets with is its own trouble.
    perform private.run_job('send_notifications', 'private.send_notifications()');
  end if;
  perform private.record_job('evaluate_alerts', v_started_at, v_error);
  commit;
end;
$$;

-- Health

create function private.alert_health(p_now timestamptz, p_watermark timestamptz)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings private.settings;
  v_window_end timestamptz;
  v_has_rules constant boolean := exists (select from app.alert_rules r where r.enabled);
  v_waits boolean;
begin
  select s.* into v_settings from private.settings s;
  select r.window_end into v_window_end from private.alert_rounds r where r.finished_at is not null;
  v_waits := v_has_rules
    and coalesce(p_now - p_watermark, 'infinity') > v_settings.alert_watermark_limit;
  return jsonb_build_object(
    'status', private.health_word(
      false, v_waits or (v_has_rules and p_now - v_window_end > v_settings.alert_round_limit)
    ),
    'waiting', v_waits,
    'watermark_age_seconds', round(extract(epoch from p_now - p_watermark), 3),
    'evaluated_until', v_window_end
  );
end;
$$;

comment on table private.alert_groups is
  'Filter and number that rules of a tenant share. Its partial values are complete for minutes '
  'from filled_from on and for records up to arrival; both null: to be filled.';
comment on column private.alert_groups.number_sql is
  'What sum, avg, min and max take of a record, over the alias l.';
comment on table private.alert_partials is
  'Per group and minute of ts: records, those with a number, and the numbers'' sum and bounds.';
comment on table private.alert_plans is
  'A rule''s query as compiled, valid while query_dsl is the rule''s. Without a group, the rule '
  'reads its window.';
comment on table private.alert_resets is
  'Tenants of which records were deleted or changed: their groups are to be filled anew.';
comment on table private.alert_rounds is
  'The last round: where its windows ended, and which arrivals it added to the groups.';
comment on type private.alert_window is 'A window of a rule and the value found in it.';
comment on function private.enqueue_timeout() is
  'How long after its received_at a batch can become visible: the timeout of ingest_logs.';
comment on function private.watermark(timestamptz) is
  'Everything received before is visible: the lesser of the oldest queued batch and the start of '
  'the writer''s last run less the enqueue timeout. Null before the writer ever ran.';
comment on function private.watermark() is 'The watermark, by the queue as it is.';
comment on function private.whole_minute(timestamptz) is 'The start of the minute.';
comment on function private.alert_number_sql(text, text) is
  'The number that an aggregate takes of a record, as SQL over the alias l.';
comment on function private.has_partials(text) is
  'Whether the aggregate of a window follows from those of its minutes.';
comment on function private.names_now(text, timestamptz) is
  'Whether a query means something else as time goes by.';
comment on function private.plan_alert_rule(uuid, timestamptz) is
  'Compiles a rule''s query and puts the rule into its group.';
comment on function private.alert_partials_sql(text, text, text) is
  'SQL of the partial values per minute of what a source yields.';
comment on function private.advance_alert_group(bigint, timestamptz, private.alert_rounds) is
  'Adds the round''s arrivals to a group, or fills it anew.';
comment on function private.note_removed_records() is
  'Trigger: notes whose partial values no longer hold.';
comment on function private.reset_alert_groups(text) is
  'Has the groups of a tenant filled anew where records of it were removed.';
comment on function private.alert_condition_holds(double precision, text, double precision) is
  'Whether a value fires. No data, a null, never does.';
comment on function private.partial_value(
  text, integer, numeric, numeric, numeric, numeric, numeric
) is 'A window''s value from the sums over its minutes, as the compiler''s aggregates have it.';
comment on function private.window_value(text, text, text, text, timestamptz, timestamptz) is
  'A window''s value from its records.';
comment on function private.fire_alert(app.alert_rules, private.alert_window, timestamptz) is
  'One history entry and its notifications, unless one within the cooldown exists. True if so.';
comment on function private.stage_alert_arrivals(private.alert_rounds, timestamptz) is
  'Copies the records that arrived since the last round, of tenants with rules, for this session.';
comment on function private.last_arrival(bigint) is
  'The greatest arrival that is visible; p_after where none is greater.';
comment on function private.begin_alert_round(timestamptz, timestamptz) is
  'Opens the round for the minute that the watermark passed and stages its records. Null when '
  'there is nothing to evaluate, or rules have to wait.';
comment on function private.due_alert_windows(text, private.alert_rounds) is
  'The windows that a round evaluates: the new ones, and open ones into which records came late.';
comment on function private.evaluate_tenant_alerts(text, private.alert_rounds, timestamptz) is
  'Evaluates the enabled rules of a tenant in one transaction. Alerts fired.';
comment on procedure private.evaluate_alerts() is
  'One round, a transaction for each tenant. Called by pg_cron every few seconds; most calls find '
  'that no minute has passed.';
comment on function private.alert_health(timestamptz, timestamptz) is
  'What health tells of alerts: degraded while rules wait, or rounds stay away.';
