-- Returns the effective retention in days: the tenant's setting, or else the plan's default. The
-- plan's maximum bounds both. Before its first write a tenant has the default plan.
create function logloom_private.retention_days(p_tenant_id text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := logloom_private.plan_of(p_tenant_id);
begin
  return least(
    coalesce(
      (select s.retention_days from logloom.tenant_settings s where s.tenant_id = p_tenant_id),
      v_plan.retention_days_default
    ),
    v_plan.retention_days_max
  );
end;
$$;

-- Returns the longest retention in days that a record of the tenant can have.
create function logloom_private.longest_days(p_tenant_id text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return least(
    greatest(
      logloom_private.retention_days(p_tenant_id),
      (select s.rules_days_max from logloom.tenant_settings s where s.tenant_id = p_tenant_id)
    ),
    (logloom_private.plan_of(p_tenant_id)).retention_days_max
  );
end;
$$;

-- Returns the retention that limits the days of a restored block or a file of the archive. With
-- retention rules it is one day, because records are then kept for different times.
create function logloom_private.shared_retention_days(p_tenant_id text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select case when s.rules_days_max is null then r.days else 1 end
    from logloom_private.retention_days(p_tenant_id) r (days)
    left join logloom.tenant_settings s on s.tenant_id = p_tenant_id
  );
end;
$$;

-- Builds an SQL expression for the record l: the days of the tenant's first matching rule; null if
-- no rule matches.
create function logloom_private.rule_days_sql(p_tenant_id text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce('case ' || string_agg(
      'when ' || concat_ws(
        ' and ', 'l.level = ' || quote_literal(r.level), 'l.service = ' || quote_literal(r.service)
      ) || ' then ' || r.days,
      ' ' order by r.n
    ) || ' end', 'null')
    from logloom.tenant_settings s
    cross join unnest(s.retention_rules) with ordinality r (level, service, days, n)
    where s.tenant_id = p_tenant_id
  );
end;
$$;

-- Returns the first UTC day whose records the tenant keeps, if today is p_today.
create function logloom_private.first_kept_day(p_tenant_id text, p_today date)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return p_today - logloom_private.longest_days(p_tenant_id);
  end if;
  -- A deleted tenant keeps only today: its last records may still be on their way.
  return p_today;
end;
$$;

-- Returns first_kept_day() for all tenants.
create function logloom_private.first_kept_days(p_today date)
returns table (tenant_id text, first_kept_day date)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    t.tenant_id,
    -- Does the same as longest_days(), for all tenants at once.
    p_today - least(
      greatest(coalesce(s.retention_days, p.retention_days_default), s.rules_days_max),
      p.retention_days_max
    )
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  left join logloom.tenant_settings s on s.tenant_id = t.tenant_id;
end;
$$;

-- Returns the time from which the tenant keeps records: longest_days whole UTC days before today,
-- or its oldest restored day. Never before p_from.
create function logloom_private.kept_from(p_tenant_id text, p_from timestamptz default '-infinity')
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz;
begin
  -- The shortest retention is a day, so records of the last 24 hours are always kept.
  if p_from >= now() - interval '24 hours' then
    return p_from;
  end if;
  v_from := date_trunc('day', now(), 'UTC')
    - make_interval(hours => 24 * logloom_private.longest_days(p_tenant_id));
  if p_from < v_from then
    -- Older records exist if they were restored.
    v_from := least(
      v_from,
      (
        select logloom_private.day_start(min(k.first_day))
        from logloom_private.kept_longer k
        where k.tenant_id = p_tenant_id and k.kept_until > now()
      )
    );
  end if;
  return greatest(p_from, v_from);
end;
$$;
