-- Calls an operation of the caller and returns its answer, or the items of its list. Leaves out
-- arguments that are null or that the operation does not have. Raises PT400 for a value that its
-- parameter cannot take.
create function logloom_private.call_operation(p_operation text, p_arguments jsonb)
returns setof jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_written record;
begin
  with given as materialized (
    select a.name, format_type(a.type, null) as type, p_arguments -> a.name as value
    from pg_proc p
    cross join lateral unnest(p.proargnames, p.proargtypes) a (name, type)
    where p.pronamespace = 'public'::regnamespace and p.proname = p_operation
      and p_arguments -> a.name <> 'null'
  ), written as materialized (
    select g.name, g.type, case
      when g.type = 'jsonb' then g.value::text
      -- A JSON array becomes PostgreSQL's text of an array.
      when g.type like '%[]' and jsonb_typeof(g.value) = 'array'
        then array(select jsonb_array_elements_text(g.value))::text
      when jsonb_typeof(g.value) not in ('array', 'object') then g.value #>> '{}'
    end as value
    from given g
  )
  select
    min(w.name) filter (where pg_input_is_valid(w.value, w.type) is not true) as name,
    jsonb_object_agg(w.name, w.value) as given,
    jsonb_object_agg(w.name, w.type) as types,
    string_agg(format('%I => ($1 ->> %L)::%s', w.name, w.name, w.type), ', ') as arguments
  into v_written
  from written w;
  if v_written.name is not null then
    perform logloom_private.refuse(
      'files.field_is_invalid', substr(v_written.name, 3), v_written.types ->> v_written.name
    );
  end if;
  return query execute format(
    'select to_jsonb(r) from public.%I(%s) r', p_operation, v_written.arguments
  ) using v_written.given;
end;
$$;

-- Returns the fields of a thing as documents have them, from the answer of an operation.
create function logloom_private.file_fields(p_type logloom_private.file_type, p_thing jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_object_agg(f.name, case
      when f.name = 'view' then coalesce((
        select to_jsonb(v.name)
        from logloom.log_views v
        where v.view_id = (p_thing ->> 'view_id')::uuid
      ), f.fallback)
      when f.name = 'rule' then coalesce((
        select to_jsonb(r.name)
        from logloom.alert_rules r
        where r.rule_id = (p_thing #>> '{matcher,rule_id}')::uuid
      ), p_thing #> '{matcher,rule_id}', f.fallback)
      when f.name = 'group' then coalesce(p_thing #> '{matcher,group}', f.fallback)
      when f.name = 'rules' then jsonb_strip_nulls(p_thing -> 'retention_rules')
      -- A stream that is paused sends nothing until it is enabled again.
      when f.name = 'enabled' and p_thing ->> 'paused_at' is not null then 'false'
      when f.name = 'secrets'
        then coalesce(p_thing -> 'secrets', p_thing -> 'notification_secrets', f.fallback)
      when p_thing -> f.name is null or p_thing -> f.name = 'null' then f.fallback
      -- The threshold is the number of deviations.
      when f.name = 'baseline' then (p_thing -> f.name) - '{deviations,known_days}'::text[]
      else p_thing -> f.name
    end)
    from jsonb_each(p_type.fields) f (name, fallback)
  );
end;
$$;

-- Returns the tenant's things of a type as [{id, name, fields}], oldest first. Leaves out searches
-- and dashboards that the caller did not share, because only their creator can change them. Leaves
-- out silences that have no comment (their name), or that do not recur without an end.
create function logloom_private.file_things(p_type logloom_private.file_type, p_tenant_id text)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_things jsonb := '[]';
  v_page jsonb[];
  v_after text;
begin
  loop
    v_page := array(
      select i
      from logloom_private.call_operation(
        p_type.lists,
        jsonb_build_object('p_tenant_id', p_tenant_id, 'p_limit', 1000, 'p_after', v_after)
      ) i
    );
    -- A list without pages gives the same items again.
    exit when coalesce(v_page[cardinality(v_page)] ->> p_type.id_member, v_after)
      is not distinct from v_after;
    v_after := v_page[cardinality(v_page)] ->> p_type.id_member;
    v_things := (
      select coalesce(jsonb_agg(
        jsonb_build_object(
          'id', p.item -> p_type.id_member,
          'starts_at', p.item -> 'starts_at',
          'name', coalesce(p.item -> p_type.name_member, to_jsonb(p_type.type)),
          'fields', logloom_private.file_fields(p_type, p.item)
        )
        order by
          (p.item ->> 'position')::integer, (p.item ->> 'created_at')::timestamptz,
          p.item ->> p_type.name_member collate "C", p.item ->> p_type.id_member
      ), '[]')
      from unnest(v_page) p (item)
      -- Leaves out what customers made.
      where p.item ->> 'customer' is null
        and (
          p.item -> 'is_shared' is null
          or p.item -> 'is_shared' = 'true'
          and p.item ->> 'created_by' = logloom_private.current_user_id()
        )
        and (
          p_type.type <> 'silences'
          or p.item -> 'recurrence' <> 'null' and p.item -> 'ends_at' = 'null'
          and p.item -> 'comment' <> 'null' and p.item ->> 'state' <> 'expired'
        )
    ) || v_things;
  end loop;
  return v_things;
end;
$$;
