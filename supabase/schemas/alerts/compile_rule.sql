-- A rule's query within the view that it is evaluated in, if any: joined as trees. PT400 where it
-- names what the view hides, or an attribute beside that; PT403 where the tenant has no such view.
create function logloom_private.compile_rule(
  p_tenant_id text,
  p_query_dsl text,
  p_view_id uuid,
  p_now timestamptz default now()
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query := logloom_private.compile_query(p_query_dsl, p_now);
  v_view logloom.log_views;
  v_shown logloom_private.compiled_query;
begin
  if p_view_id is null then
    return v_query;
  end if;
  select v.* into v_view
  from logloom.log_views v
  where v.tenant_id = p_tenant_id and v.view_id = p_view_id;
  if not found then
    perform logloom_private.refuse('callers.view_is_missing');
  end if;
  if exists (
    select
    from unnest(
      logloom_private.query_reads(jsonb_build_array(v_query.tree, v_query.plan))
    ) r (name)
    cross join unnest(v_view.hidden_fields) h (name)
    where r.name = h.name
      or split_part(r.name, '.', 1) = 'attrs' and split_part(h.name, '.', 1) = 'attrs'
      and (
        'attrs' in (r.name, h.name) or split_part(r.name, '.', 2) = split_part(h.name, '.', 2)
      )
  ) then
    perform logloom_private.refuse('alerts.query_reads_what_is_hidden', v_view.name);
  end if;
  if v_view.query_dsl is null then
    return v_query;
  end if;
  v_shown := logloom_private.compile_query(v_view.query_dsl, p_now);
  v_query.tree := jsonb_build_object(
    'type', 'and', 'items', jsonb_build_array(v_shown.tree, v_query.tree)
  );
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  v_query.ts_from := greatest(v_query.ts_from, v_shown.ts_from);
  v_query.ts_to := least(v_query.ts_to, v_shown.ts_to);
  v_query.names_now := v_query.names_now or v_shown.names_now;
  return v_query;
end;
$$;
