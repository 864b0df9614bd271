-- Returns the saved searches of a reader. A user gets their own searches and shared ones; a key
-- gets only shared ones. Within a view, only the searches of the view are returned.
create function logloom_private.read_saved_searches(
  p_scope logloom_private.reading_scope,
  include_shared boolean,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_saved_search
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because readers such as keys have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_saved_searches');
  v_user_id constant text := case
    when p_scope is null and v_scope.view_id is null then logloom_private.current_user_id()
  end;
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'saved search', 'id',
    (
      select s.created_at from logloom.saved_searches s
      where s.tenant_id = v_scope.tenant_id and s.id = p_after
        and (s.is_shared or s.created_by = v_user_id)
        and (v_scope.view_id is null or s.view_id = v_scope.view_id)
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- 300 searches always fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select o as item
      from logloom.saved_searches s
      cross join lateral logloom_private.saved_search_of(s) o
      where s.tenant_id = v_scope.tenant_id
        and (s.is_shared or s.created_by = v_user_id)
        and (v_scope.view_id is null or s.view_id = v_scope.view_id)
        and (include_shared is distinct from false or s.created_by = v_user_id)
        and (p_after is null or (s.created_at, s.id) < (v_after, p_after))
      order by s.created_at desc, s.id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

create function public.list_saved_searches(
  include_shared boolean default true,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_saved_search
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select s.* from logloom_private.read_saved_searches(null, include_shared, p_limit, p_after) s;
end;
$$;

comment on function public.list_saved_searches(boolean, integer, uuid) is
  'Lists the caller''s saved searches, newest first. With include_shared (default true), also '
  'those that colleagues shared. p_limit 1 to 1000 (default 100), p_after: id of the last item of '
  'the page before. Errors: PT400, PT401, PT403.';

create function public.get_saved_search_categories()
returns text[]
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  return array(
    select distinct s.category
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.category is not null
    order by s.category
  );
end;
$$;

comment on function public.get_saved_search_categories() is
  'Returns the distinct categories of the saved searches that the caller can read, sorted. Errors: '
  'PT400, PT401.';

create function public.get_saved_search_count()
returns bigint
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.current_user_id();
begin
  return (
    select count(*)
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.created_by = v_user_id
  );
end;
$$;

comment on function public.get_saved_search_count() is
  'Returns the number of the caller''s own saved searches. Errors: PT400, PT401.';
