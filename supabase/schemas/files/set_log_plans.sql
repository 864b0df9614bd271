-- Makes a plan as a document describes it. Returns the change, or null if nothing differs.
create function logloom_private.apply_plan(p_document jsonb)
returns public.logloom_file_change
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id constant text := p_document ->> 'name';
  v_fields constant jsonb := p_document -> 'fields';
  v_old jsonb;
  v_new jsonb;
  v_unknown text;
begin
  if jsonb_typeof(p_document) is distinct from 'object'
    or p_document - '{type,name,fields}'::text[] is distinct from '{}'
    or jsonb_typeof(v_fields) is distinct from 'object'
    or v_id ~ '^[A-Za-z0-9_-]{1,100}$' is not true
  then
    perform logloom_private.refuse('files.plan_is_no_document');
  end if;
  select to_jsonb(p) - 'plan_id' into v_old from logloom.plans p where p.plan_id = v_id;
  begin
    -- Converts the values to the types of the columns.
    v_new := to_jsonb(
      jsonb_populate_record(null::logloom.plans, coalesce(v_old, '{}') || v_fields)
    ) - 'plan_id';
    v_unknown := (select min(f) from jsonb_object_keys(v_fields) f where not v_new ? f);
    if v_unknown is not null then
      perform logloom_private.refuse(
        'files.plan_is_invalid', v_id, 'there is no column ' || left(v_unknown, 60)
      );
    end if;
    execute (
      -- A new plan gets the defaults of columns that are left out.
      select format(
        'insert into logloom.plans (plan_id, %1$s) '
          'select $2, %1$s from jsonb_populate_record(null::logloom.plans, $1) '
          'on conflict (plan_id) do update set (%1$s) = row(excluded.%2$s)',
        string_agg(quote_ident(c.name), ', '), string_agg(quote_ident(c.name), ', excluded.')
      )
      from jsonb_object_keys(v_new) c (name)
      where v_old is not null or v_fields ? c.name or c.name = 'plan_name'
    ) using v_new, v_id;
  exception
  when unique_violation then
    perform logloom_private.refuse(
      'files.plan_is_invalid', v_id, 'another plan has is_default'
    );
  when data_exception or integrity_constraint_violation then
    perform logloom_private.refuse('files.plan_is_invalid', v_id, sqlerrm);
  end;
  return (
    select row(
      case when v_old is null then 'create' else 'update' end, 'plans', v_id, null,
      jsonb_object_agg(n.key, jsonb_build_object('old', v_old -> n.key, 'new', n.value)
        - case when v_old is null then 'old' else '' end)
    )::public.logloom_file_change
    from jsonb_each(v_new) n
    where v_fields ? n.key and n.value is distinct from v_old -> n.key
    having count(*) > 0
  );
end;
$$;

-- Deletes plans, and makes others as the documents describe them.
create function logloom_private.change_plans(p_plans jsonb, p_deleted_ids text[])
returns public.logloom_file_change[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes plans
declare
  v_plan record;
  v_change public.logloom_file_change;
  v_changes public.logloom_file_change[] := '{}';
  v_ids text[] := '{}';
  v_state text;
  v_detail text;
  v_hint text;
begin
  if jsonb_typeof(p_plans) is distinct from 'array' then
    perform logloom_private.refuse('files.plan_is_no_document');
  elsif not pg_try_advisory_xact_lock(logloom_private.lock_key('files'), 0) then
    perform logloom_private.refuse_for_now(2, 'files.plans_are_busy');
  end if;
  for v_plan in
    delete from logloom.plans p where p.plan_id = any (p_deleted_ids) returning p.plan_id
  loop
    v_changes := v_changes
      || row('delete', 'plans', v_plan.plan_id, null, '{}')::public.logloom_file_change;
  end loop;
  for v_plan in
    select d.value as document, d.n - 1 as index
    from jsonb_array_elements(p_plans) with ordinality d (value, n)
    -- The new default comes last, because at most one plan may be the default at any time.
    order by d.value #> '{fields,is_default}' is not distinct from 'true', d.n
  loop
    begin
      if v_plan.document ->> 'name' = any (v_ids) then
        perform logloom_private.refuse('files.name_is_repeated', 'plans');
      end if;
      v_ids := v_ids || (v_plan.document ->> 'name');
      v_change := logloom_private.apply_plan(v_plan.document);
    exception when others then
      get stacked diagnostics
        v_state = returned_sqlstate, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
      if v_state not like 'PT%' then
        raise;
      end if;
      perform logloom_private.refuse_in_document(
        v_state, sqlerrm, v_detail, v_hint, v_plan.index::integer
      );
    end;
    if v_change.action is not null then
      v_changes := v_changes || v_change;
    end if;
  end loop;
  if not exists (select from logloom.plans p where p.is_default) then
    perform logloom_private.refuse('files.no_plan_is_default');
  end if;
  return v_changes;
exception when foreign_key_violation then
  perform logloom_private.refuse('files.plans_are_used', array_to_string(array(
    select t.tenant_id || ' (' || t.plan_id || ')'
    from logloom.tenants t
    where t.plan_id = any (p_deleted_ids)
    order by t.tenant_id
    limit 10
  ), ', '));
end;
$$;

create function public.set_log_plans(
  p_plans jsonb default '[]',
  p_deleted_ids text[] default '{}',
  p_dry_run boolean default true
)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_changes public.logloom_file_change[];
begin
  begin
    v_changes := logloom_private.change_plans(p_plans, p_deleted_ids);
    if p_dry_run is not false then
      raise exception using errcode = 'triggered_action_exception';
    end if;
  exception when triggered_action_exception then
    -- The exception undoes all changes of rows, but v_changes keeps its value.
    null;
  end;
  return jsonb_build_object('changes', v_changes, 'plans', (
    select jsonb_agg(jsonb_build_object('type', 'plans', 'name', p.plan_id,
      'fields', to_jsonb(p) - 'plan_id') order by p.plan_id)
    from logloom.plans p
  ));
end;
$$;

comment on function public.set_log_plans(jsonb, text[], boolean) is
  'For service_role. Makes plans as documents {type: plans, name, fields} describe them: name is '
  'the plan_id, fields are columns of logloom.plans. A column that is left out stays. Deletes '
  'p_deleted_ids. Returns {changes, plans}: what differs, and all plans after the call. p_dry_run: '
  'true by default; false makes the changes. Errors: PT400, PT403, PT409 (a tenant has the plan), '
  'PT429.';
