-- PT403 for a token that only reads.
create function logloom_private.require_writing_client(p_claims jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if logloom_private.reads_only(p_claims) then
    perform logloom_private.refuse('callers.client_may_only_read');
  end if;
end;
$$;
