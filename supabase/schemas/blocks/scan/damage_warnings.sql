-- Returns a query warning if a block of the tenant is damaged, [] otherwise. The warning has no
-- number and no time, because a reader with hidden fields must not learn where blocks begin.
create function logloom_private.damage_warnings(p_tenant_id text)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.damaged_at is not null
  limit 1;
  return case
    when found then jsonb_build_array(jsonb_build_object(
      'position', null,
      'message', 'some stored records are damaged and left out',
      'suggestion', 'Ask the operators of the service: the verification lists them.'
    ))
    else '[]'
  end;
end;
$$;
