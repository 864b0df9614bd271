-- A warning as those of a query, [] where no block of the tenant is damaged. Without a number or a
-- time: a reader with hidden fields does not learn where blocks begin.
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
      'suggestion', 'Ask who runs the service: a verification has named them.'
    ))
    else '[]'
  end;
end;
$$;
