-- The texts of templates, in order: as many of each as p_counts says, with their digits.
create function logloom_private.fill_templates(
  p_templates text[],
  p_counts integer[],
  p_digits bytea,
  p_separator text
)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_templates text;
begin
  select string_agg(repeat(m.template || p_separator, m.count), '' order by m.n)
  into v_templates
  from unnest(p_templates, p_counts) with ordinality m (template, count, n);
  return trim_array(
    string_to_array(logloom_private.fill_template(v_templates, p_digits, 0), p_separator), 1
  );
end;
$$;
