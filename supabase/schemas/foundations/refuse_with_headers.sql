-- Raises the error of this name with headers for its answer.
create function logloom_private.refuse_with_headers(
  p_headers jsonb,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST's way to an answer with headers.
  raise sqlstate 'PGRST' using
    message = json_build_object(
      'code', 'PT' || v_error.status, 'message', v_error.message,
      'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
    ),
    detail = json_build_object('status', v_error.status, 'headers', p_headers);
end;
$$;
