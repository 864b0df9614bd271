-- Cuts the values of a row to 2,000 characters each. Keeps only the first hundred values.
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

create function logloom_private.moves_tenant(
  p_statement logloom_private.audited_statement, p_old jsonb, p_new jsonb
)
returns boolean
language sql
immutable
return coalesce(
  p_old ->> p_statement.tenant_column is distinct from p_new ->> p_statement.tenant_column
    and p_old is not null and p_new is not null
    and coalesce(
      logloom_private.usable_id(p_old ->> p_statement.tenant_column), p_statement.tenant_id
    ) is distinct from coalesce(
      logloom_private.usable_id(p_new ->> p_statement.tenant_column), p_statement.tenant_id
    ),
  false
);

-- Returns the event of a row that was inserted (p_old is null), deleted (p_new is null) or updated.
-- Null if no recorded column has changed. tenant_id: null if the row has no tenant. Has few, but
-- long expressions, because each one costs time in each transaction.
create function logloom_private.audited_row(
  p_statement logloom_private.audited_statement, p_old jsonb, p_new jsonb
)
returns logloom.audit_events
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
  if p_old is not null and p_new is not null then
    v_same := array(select n.key from jsonb_each(v_new) n where n.value = v_old -> n.key);
    if v_new - v_same = '{}' and not p_statement.columns_have_changed then
      return null;
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
  return row(
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

-- The trigger of logloom.audit_table(). The nth row of old_rows is the nth row of new_rows before
-- the update, because PostgreSQL adds both at once. So keys may change or be missing. If a row
-- moves to another tenant, records a deletion for the old tenant and an insertion for the new
-- tenant, and shows neither the other's id. Stores a thousand events at once, in half the time.
create function logloom_private.audit_changes()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
-- definer because no API role writes audit events
declare
  v_claims constant jsonb := logloom_private.claims();
  v_statement logloom_private.audited_statement :=
    logloom_private.audited_columns(tg_relid, tg_argv[0:6]);
  v_source text;
  v_old_rows refcursor;
  v_new_rows refcursor;
  v_old jsonb;
  v_new jsonb;
  v_event logloom.audit_events;
  v_events logloom.audit_events[] := '{}';
  v_has_row boolean;
  v_stored bigint;
  v_unaudited bigint := 0;
begin
  v_statement.name :=
    case tg_table_schema when 'public' then '' else tg_table_schema || '.' end || tg_table_name;
  v_statement.tenant_id := logloom_private.usable_id(v_claims ->> 'tenant_id');
  v_statement.actor := coalesce(
    v_claims ->> 'sub', nullif(current_setting('role', true), 'none'), session_user
  );
  v_statement.client_id := v_claims ->> 'client_id';
  v_statement.context := case when v_claims ->> 'sub' is not null then '{}'
    else jsonb_build_object('application_name', current_setting('application_name')) end;
  if tg_op = 'TRUNCATE' then
    -- Runs before TRUNCATE, while the rows exist. Adds an event for each tenant.
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
    -- PostgreSQL caches the plans of these fixed queries, which halves the time for one row.
    if tg_op <> 'INSERT' then
      open v_old_rows for select to_jsonb(o.*) from old_rows o;
    end if;
    if tg_op <> 'DELETE' then
      open v_new_rows for select to_jsonb(n.*) from new_rows n;
    end if;
  else
    v_source := 'select to_jsonb(c.*) from (select ' || v_statement.row_source || ' from %s r) c';
    if tg_op <> 'INSERT' then
      open v_old_rows for execute format(v_source, 'old_rows');
    end if;
    if tg_op <> 'DELETE' then
      open v_new_rows for execute format(v_source, 'new_rows');
    end if;
  end if;
  loop
    if tg_op <> 'INSERT' then
      fetch v_old_rows into v_old;
    end if;
    if tg_op <> 'DELETE' then
      fetch v_new_rows into v_new;
    end if;
    v_has_row := found;
    if v_has_row and logloom_private.moves_tenant(v_statement, v_old, v_new) then
      v_events := v_events || logloom_private.audited_row(v_statement, v_old, null)
        || logloom_private.audited_row(v_statement, null, v_new);
    elsif v_has_row then
      v_event := logloom_private.audited_row(v_statement, v_old, v_new);
      if v_event.event_id is not null then
        v_events := v_events || v_event;
      end if;
    end if;
    if cardinality(v_events) >= 1000 or not v_has_row then
      insert into logloom.audit_events
      select e.* from unnest(v_events) e where e.tenant_id is not null;
      get diagnostics v_stored = row_count;
      v_unaudited := v_unaudited + cardinality(v_events) - v_stored;
      v_events := '{}';
    end if;
    exit when not v_has_row;
  end loop;
  if v_unaudited > 0 then
    raise log 'logloom: % rows of % have no known tenant and are not audited', v_unaudited,
      v_statement.name;
  end if;
  return null;
end;
$$;
