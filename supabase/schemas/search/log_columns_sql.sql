-- A record of the alias l, column after column.
create function logloom_private.log_columns_sql()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'l.id, l.tenant_id, l.ts, l.received_at, l.level, l.msg, l.service, l.env, l.req_id, '
    || 'l.user_id, l.route, l.host, l.attrs';
end;
$$;
