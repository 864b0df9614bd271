create type public.logloom_query_warning as ("position" integer, message text, suggestion text);

comment on type public.logloom_query_warning is
  'A valid part of a query that its author probably meant differently. Has its position (1-based, '
  'code points) and what to write instead.';

create type public.logloom_query_validity as (
  valid boolean,
  error text,
  "position" integer,
  hint text,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_query_validity is
  'Tells whether a query compiles. If not: the error, its position (1-based, code points) and the '
  'expected syntax. warnings: valid parts that their author probably meant differently.';

create function logloom_private.warnings_of(p_query logloom_private.compiled_query)
returns public.logloom_query_warning[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select w
    from jsonb_populate_recordset(null::public.logloom_query_warning, p_query.warnings) w
  );
end;
$$;

-- Tells whether a query compiles and names no field of p_hidden: {"valid", "error", "position",
-- "hint", "warnings"}. error, position and hint are null if it is valid. No role may call it: only
-- a definer function does.
create function logloom_private.query_verdict(
  p_query_dsl text,
  p_hidden text[] default null
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error text;
  v_detail text;
  v_hint text;
  v_query logloom_private.compiled_query;
begin
  v_query := logloom_private.compile_query(p_query_dsl);
  perform logloom_private.refuse_hidden_fields(v_query, p_query_dsl, p_hidden);
  return '{"valid": true, "error": null, "position": null, "hint": null}'::jsonb
    || jsonb_build_object('warnings', v_query.warnings);
exception when sqlstate 'PT400' then
  get stacked diagnostics
    v_error = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  return jsonb_build_object(
    'valid', false,
    'error', v_error,
    'position', v_detail::jsonb -> 'position',
    'hint', v_hint,
    'warnings', '[]'::jsonb
  );
end;
$$;
