create function logloom_private.contains_template(p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pattern constant text := p_values ->> 0;
  v_template constant text := logloom_private.template_of(v_pattern);
  v_inner constant text := substr(v_template, 2, length(v_template) - 2);
begin
  return jsonb_build_object(
    'by', 'contains',
    'values', array[v_template],
    'decides', v_pattern !~ '[0-9]',
    'literal', case when regexp_replace(v_inner, '\\.', '', 'g') !~ '[_%]'
      then regexp_replace(v_inner, '\\(.)', '\1', 'g') end
  );
end;
$$;
