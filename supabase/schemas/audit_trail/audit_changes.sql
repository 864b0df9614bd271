-- Cuts the values of a row to 2,000 characters each, and leaves out those after the first hundred.
create function logloom_private.cut_row(p_row jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_object_agg(v.key, case when length(v.value::text) > 2002
      then to_jsonb(left(v.value #>> '{}', 2000) || '… (cut)') else v.value end), '{}')
    from (select e.* from jsonb_each(p_row) e limit 100) v
  );
end;
$$;

-- Returns the event of a row that was inserted (p_old is null), deleted (p_new is null) or updated;
-- none if no recorded column has changed. A row that moves to another tenant is a deletion for the
-- one and an insertion for the other, so that neither sees the other's id. tenant_id: null if the
-- row has no tenant. Few long expressions: each one costs time in each transaction.
create function logloom_private.audited_rows(
  p_statement logloom_private.audited_statement, p_old jsonb, p_new jsonb
)
returns setof logloom.audit_events
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row constant jsonb := coalesce(p_new, p_old);
  v_id text := v_row ->> p_statement.keys[1];
  v_old jsonb := p_old - p_statement.hidden_columns;
  v_new jsonb := p_new - p_statement.hidden_columns;
  v_same text[] := '{}';
begin
  if p_old ->> p_statement.tenant_column is distinct from p_new ->> p_statement.tenant_column
    and p_old is not null and p_new is not null
    and coalesce(
      logloom_private.usable_id(p_old ->> p_statement.tenant_column), p_statement.tenant_id
    ) is distinct from coalesce(
      logloom_private.usable_id(p_new ->> p_statement.tenant_column), p_statement.tenant_id
    )
  then
    return query select e.* from logloom_private.audited_rows(p_statement, p_old, null) e;
    return query select e.* from logloom_private.audited_rows(p_statement, null, p_new) e;
    return;
  elsif p_old is not null and p_new is not null then
    v_same := array(select n.key from jsonb_each(v_new) n where n.value = v_old -> n.key);
    if v_new - v_same = '{}' and not p_statement.columns_have_changed then
      return;
    end if;
  end if;
  if cardinality(p_statement.keys) > 1 then
    select jsonb_agg(v_row -> k.name order by k.n) into v_id
    from unnest(p_statement.keys) with ordinality k (name, n);
  end if;
  if greatest(octet_length(p_old::text), octet_length(p_new::text)) > 2000 then
    v_old := logloom_private.cut_row(v_old - v_same);
    v_new := logloom_private.cut_row(v_new - v_same);
  end if;
  return next row(
    gen_random_uuid(),
    logloom_private.audited_tenant(coalesce(
      logloom_private.usable_id(v_row ->> p_statement.tenant_column), p_statement.tenant_id
    )),
    clock_timestamp(), p_statement.actor,
    p_statement.name || case
      when p_old is null then '.insert' when p_new is null then '.delete' else '.update' end,
    coalesce(left(v_id, 255), ''),
    p_statement.context || case
      when p_statement.columns_have_changed then '{"columns_have_changed": true}'
      when p_old is null then jsonb_build_object('new', v_new)
      when p_new is null then jsonb_build_object('old', v_old)
      else jsonb_build_object('old', v_old - v_same, 'new', v_new - v_same)
    end,
    p_statement.client_id, 'app',
    jsonb_build_array(jsonb_build_object('type', p_statement.name, 'id', left(v_id, 255))),
    null, null, null, null, null, null
  )::logloom.audit_events;
end;
$$;

-- Records rows of a statement. Returns how many of them have no tenant.
create function logloom_private.record_rows(
  p_statement logloom_private.audited_statement, p_old jsonb[], p_new jsonb[]
)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_unaudited bigint;
begin
  with events as materialized (
    select e.*
    from unnest(p_old, p_new) u (old, new)
    cross join lateral logloom_private.audited_rows(p_statement, u.old, u.new) e
  ), stored as (
    insert into logloom.audit_events select e.* from events e where e.tenant_id is not null
  )
  select count(*) into v_unaudited from events e where e.tenant_id is null;
  return v_unaudited;
end;
$$;

-- The trigger of logloom.audit_table(). The nth row of old_rows is the nth of new_rows before its
-- update, because PostgreSQL adds both at once. So keys may change, and a table may have none. One
-- statement for all rows takes half the time of one for each.
create function logloom_private.audit_changes()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_claims constant jsonb := logloom_private.claims();
  v_columns constant logloom_private.audited_statement :=
    logloom_private.audited_columns(tg_relid, tg_argv[0:5]);
  v_statement constant logloom_private.audited_statement := row(
    case tg_table_schema when 'public' then '' else tg_table_schema || '.' end || tg_table_name,
    v_columns.keys, v_columns.hidden_columns, v_columns.columns_have_changed,
    v_columns.tenant_column, v_columns.row_source,
    logloom_private.usable_id(v_claims ->> 'tenant_id'),
    coalesce(v_claims ->> 'sub', nullif(current_setting('role', true), 'none'), session_user),
    v_claims ->> 'client_id',
    case when v_claims ->> 'sub' is not null then '{}'
      else jsonb_build_object('application_name', current_setting('application_name')) end
  );
  v_source text;
  v_rows refcursor;
  v_old_row jsonb;
  v_new_row jsonb;
  v_old jsonb[] := '{}';
  v_new jsonb[] := '{}';
  v_unaudited bigint := 0;
begin
  if tg_op = 'TRUNCATE' then
    -- Before TRUNCATE, which leaves no row: an event for each tenant.
    execute format(
      $sql$
        insert into logloom.audit_events (
          tenant_id, source, actor, client_id, action, subject, targets, details
        )
        select distinct t.id, 'app', ($1).actor, ($1).client_id, ($1).name || '.truncate', '',
          jsonb_build_array(jsonb_build_object('type', ($1).name)), ($1).context
        from (select distinct %s as id from %s r) r
        cross join lateral logloom_private.audited_tenant(
          coalesce(logloom_private.usable_id(r.id), ($1).tenant_id)
        ) t (id)
        where t.id is not null
      $sql$,
      coalesce(format('concat(r.%I)', v_statement.tenant_column), ''''''), tg_relid::regclass
    )
    using v_statement;
    return null;
  end if;
  if v_statement.row_source is null then
    -- These have a plan already, which halves the time for one row.
    if tg_op = 'INSERT' then
      open v_rows for select null::jsonb, to_jsonb(n.*) from new_rows n;
    elsif tg_op = 'DELETE' then
      open v_rows for select to_jsonb(o.*), null::jsonb from old_rows o;
    else
      -- No join: its plan for one row would take hours for many.
      open v_rows for
        select p.old, p.new
        from (
          select s.content as old, lead(s.content) over (order by s.at, s.is_new) as new, s.is_new
          from (
            select to_jsonb(o.*) as content, row_number() over () as at, false as is_new
            from old_rows o
            union all
            select to_jsonb(n.*), row_number() over (), true from new_rows n
          ) s
        ) p
        where not p.is_new;
    end if;
  else
    v_source := '(select ' || v_statement.row_source || ' from %s r) c';
    open v_rows for execute
      case tg_op
        when 'INSERT' then 'select null::jsonb, to_jsonb(c.*) from ' || format(v_source, 'new_rows')
        when 'DELETE' then 'select to_jsonb(c.*), null::jsonb from ' || format(v_source, 'old_rows')
        else format(
          $sql$
            select p.old, p.new
            from (
              select s.content as old, s.is_new,
                lead(s.content) over (order by s.at, s.is_new) as new
              from (
                select to_jsonb(c.*) as content, row_number() over () as at, false as is_new from %s
                union all
                select to_jsonb(c.*), row_number() over (), true from %s
              ) s
            ) p
            where not p.is_new
          $sql$,
          format(v_source, 'old_rows'), format(v_source, 'new_rows')
        )
      end;
  end if;
  loop
    fetch v_rows into v_old_row, v_new_row;
    exit when not found;
    v_old := v_old || v_old_row;
    v_new := v_new || v_new_row;
    if cardinality(v_old) = 1000 then
      v_unaudited := v_unaudited + logloom_private.record_rows(v_statement, v_old, v_new);
      v_old := '{}';
      v_new := '{}';
    end if;
  end loop;
  close v_rows;
  v_unaudited := v_unaudited + logloom_private.record_rows(v_statement, v_old, v_new);
  if v_unaudited > 0 then
    raise log 'logloom: % rows of % have no known tenant and are not audited', v_unaudited,
      v_statement.name;
  end if;
  return null;
end;
$$;
