-- Raises the error of this name with Retry-After: what is asked is in order, but not now.
create function logloom_private.refuse_for_now(
  p_seconds integer,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse_with_headers(
    jsonb_build_object('Retry-After', p_seconds::text), p_name, variadic p_values
  );
end;
$$;
