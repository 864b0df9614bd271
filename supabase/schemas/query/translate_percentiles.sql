-- Adds percentiles: percentiles(x, 50, 95), quantile(0.95, x), perc95(x), median(x).
create function logloom_private.translated_percentiles(
  p_state logloom_private.translation,
  p_word text, p_args text[], p_field text, p_condition text, p_name text
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_numbers constant text[] :=
    array_remove(array[substring(p_word from '^[a-z]+_?([0-9][0-9.]*)$')], null)
    || array(select t from unnest(p_args) t where t ~ '^[0-9.]+$');
  v_number text;
begin
  foreach v_number in array case when v_numbers <> '{}' then v_numbers
    when p_word = 'median' then '{50}' else '{95}' end
  loop
    p_state.said := p_state.said || v_number;
    p_state := logloom_private.translated_count(
      p_state,
      'p' || trim_scale(case when v_number::numeric < 1 then 100 else 1 end * v_number::numeric),
      p_field, p_condition, p_name
    );
    p_name := null;
  end loop;
  return p_state;
end;
$$;
