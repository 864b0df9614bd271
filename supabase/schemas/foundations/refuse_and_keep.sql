-- The answer of an operation that is refused with the error of this name, whose transaction is
-- committed all the same: for what counts failures.
create function logloom_private.refuse_and_keep(
  p_name text,
  variadic p_values text[] default '{}'
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST's way to the status of an answer; an error raised would take back what was written.
  perform set_config('response.status', v_error.status::text, true);
  return jsonb_build_object(
    'code', 'PT' || v_error.status, 'message', v_error.message,
    'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
  );
end;
$$;
