create function logloom_private.log_view_of(p_row logloom.log_views)
returns public.logloom_log_view
language sql
stable
return row(
  p_row.view_id, p_row.tenant_id, p_row.name, p_row.query_dsl, p_row.hidden_fields,
  p_row.operations, p_row.created_by, p_row.created_at, p_row.updated_at
);

create function public.list_log_views(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_log_view
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'view', 'view_id',
    (
      select v.created_at from logloom.log_views v
      where v.tenant_id = v_tenant_id and v.view_id = p_after and v.customer is null
    )
  );
begin
  return query
  select (logloom_private.log_view_of(v)).*
  from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.customer is null
    and (p_after is null or (v.created_at, v.view_id) < (v_after, p_after))
  order by v.created_at desc, v.view_id desc
  limit v_limit;
end;
$$;

comment on function public.list_log_views(text, integer, uuid) is
  'Lists the tenant''s views, newest first. p_limit 1 to 1000 (default 100), p_after: view_id of '
  'the last item of the page before. Errors: PT400, PT401, PT403.';

create function logloom_private.make_log_view(
  p_tenant_id text,
  p_name text,
  p_query_dsl text,
  p_hidden_fields text[],
  p_operations text[]
)
returns public.logloom_log_view
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max integer;
  v_row logloom.log_views;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.take_slot_to_keep(
    logloom_private.scope_of_view(v_tenant_id, null), p_query_dsl
  );
  v_row.query_dsl := logloom_private.checked_view_query(p_query_dsl);
  v_row.hidden_fields := logloom_private.checked_hidden_fields(p_hidden_fields);
  v_row.operations := logloom_private.checked_view_operations(p_operations);
  perform logloom_private.hold_tenant(v_tenant_id);
  v_max := (logloom_private.plan_of(v_tenant_id)).max_views;
  if (
    select count(*) from logloom.log_views v where v.tenant_id = v_tenant_id and v.customer is null
  ) >= v_max
  then
    perform logloom_private.refuse('views.no_room', v_max::text);
  end if;
  insert into logloom.log_views (
    tenant_id, name, query_dsl, hidden_fields, operations, created_by
  )
  values (
    v_tenant_id, logloom_private.trim_space(p_name), v_row.query_dsl, v_row.hidden_fields,
    v_row.operations, logloom_private.actor()
  )
  returning * into v_row;
  return logloom_private.log_view_of(v_row);
exception
when unique_violation then
  perform logloom_private.refuse('views.name_is_taken');
  return null;
when check_violation then
  perform logloom_private.refuse('views.name_is_invalid');
  return null;
end;
$$;

create function public.create_log_view(
  p_tenant_id text default null,
  p_name text default null,
  p_query_dsl text default null,
  p_hidden_fields text[] default null,
  p_operations text[] default null
)
returns public.logloom_log_view
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.make_log_view(
    p_tenant_id, p_name, p_query_dsl, p_hidden_fields, p_operations
  );
end;
$$;

comment on function public.create_log_view(text, text, text, text[], text[]) is
  'Creates a view and returns it. For admins. Its readers are the viewers, API keys and portal '
  'sessions bound to it. p_query_dsl: a query without stages; readers get only the records that it '
  'finds (default all). p_hidden_fields: fields that readers do not get (names of fields, attrs, '
  'attrs.PATH). p_operations: the reading operations that readers may call (default all, except '
  'those that list alerts). p_name: 1 to 100 characters after trimming. Errors: PT400 (also plan '
  'limit), PT401, PT403, PT409 (the name is taken).';

create function logloom_private.change_log_view(
  p_tenant_id text,
  p_view_id uuid,
  p_name text,
  p_query_dsl text,
  p_hidden_fields text[],
  p_operations text[]
)
returns public.logloom_log_view
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_query_dsl text;
  v_hidden_fields text[];
  v_operations text[];
  v_now timestamptz;
  v_row logloom.log_views;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_view_id', p_view_id is null);
  perform logloom_private.take_slot_to_keep(
    logloom_private.scope_of_view(v_tenant_id, null), p_query_dsl
  );
  v_query_dsl := logloom_private.checked_view_query(p_query_dsl);
  v_hidden_fields := logloom_private.checked_hidden_fields(p_hidden_fields);
  v_operations := logloom_private.checked_view_operations(p_operations);
  if num_nonnulls(p_query_dsl, p_hidden_fields) > 0 then
    perform logloom_private.hold_rules_of_view(v_tenant_id, p_view_id);
  end if;
  -- No earlier: a round may have fired alerts with the view as it was.
  v_now := clock_timestamp();
  update logloom.log_views v
  set
    name = coalesce(logloom_private.trim_space(p_name), v.name),
    query_dsl = case when p_query_dsl is null then v.query_dsl else v_query_dsl end,
    hidden_fields = case
      when p_hidden_fields is null then v.hidden_fields else v_hidden_fields
    end,
    operations = case when p_operations is null then v.operations else v_operations end,
    updated_at = now(),
    shows_since = case
      when (p_query_dsl is null or v_query_dsl is not distinct from v.query_dsl)
        and (p_hidden_fields is null or v_hidden_fields = v.hidden_fields)
        then v.shows_since
      else v_now
    end
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id and v.customer is null
  returning v.* into v_row;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
  -- Customers' views that narrow this view have changed, too.
  update logloom.log_views v
  set updated_at = v_row.updated_at, shows_since = greatest(v.shows_since, v_row.shows_since)
  where v.tenant_id = v_tenant_id and v.parent_view_id = p_view_id;
  if v_row.shows_since = v_now then
    perform logloom_private.restart_rules_of_view(v_tenant_id, p_view_id, v_now);
  end if;
  return logloom_private.log_view_of(v_row);
exception
when unique_violation then
  perform logloom_private.refuse('views.name_is_taken');
  return null;
when check_violation then
  perform logloom_private.refuse('views.name_is_invalid');
  return null;
end;
$$;

create function public.update_log_view(
  p_view_id uuid default null,
  p_name text default null,
  p_query_dsl text default null,
  p_hidden_fields text[] default null,
  p_operations text[] default null,
  p_tenant_id text default null
)
returns public.logloom_log_view
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.change_log_view(
    p_tenant_id, p_view_id, p_name, p_query_dsl, p_hidden_fields, p_operations
  );
end;
$$;

comment on function public.update_log_view(uuid, text, text, text[], text[], text) is
  'Changes the given members and returns the view. For admins. The change applies to the next '
  'request of each reader. An empty p_query_dsl removes the query, empty p_hidden_fields hide '
  'nothing, and p_operations ["all"] restores the default. Errors: PT400, PT401, PT403, PT404, '
  'PT409 (the name is taken), PT429.';
