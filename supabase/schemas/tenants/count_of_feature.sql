-- How many of a feature (saved_searches, alerts) a tenant has, private ones included.
create function logloom_private.count_of_feature(p_tenant_id text, p_feature text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table constant text := case p_feature
    when 'saved_searches' then 'saved_searches'
    when 'alerts' then 'alert_rules'
  end;
  v_count integer := 0;
begin
  if v_table is not null then
    execute format('select count(*) from logloom.%I t where t.tenant_id = $1', v_table)
    into v_count
    using p_tenant_id;
  end if;
  return v_count;
end;
$$;
