-- PT400 where a rule of this query cannot be evaluated in the view, PT404 where there is none.
-- Nothing for null.
create function logloom_private.require_rule_in_view(
  p_tenant_id text,
  p_query_dsl text,
  p_view_id uuid
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
begin
  if p_view_id is not null then
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
    perform logloom_private.compile_rule(
      logloom_private.resolve_tenant_to_change(p_tenant_id), p_query_dsl, p_view_id
    );
  end if;
end;
$$;
