-- The values of a column at all of its positions.
create function logloom_private.column_texts(p_column logloom_private.block_columns)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  v_texts text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_places integer[];
begin
  if p_column.kind = 'texts' then
    return p_column.texts;
  elsif p_column.kind = 'numbers' then
    return coalesce(p_column.numbers::text[], p_column.wide_numbers::text[]);
  elsif p_column.kind = 'templated' then
    -- In the order of (code, position).
    v_texts := logloom_private.fill_templates(
      v_texts, p_column.counts, p_column.digits || ''::bytea, e'\x1f'
    );
    if v_codes is null and v_wide_codes is null then
      return v_texts;
    end if;
    v_places := array(
      select c.place
      from (
        select
          unnest(v_codes)::integer + 129 as code, unnest(v_wide_codes) as wide_code,
          generate_series(1, p_column.last - p_column.first + 1) as place
      ) c
      -- Positions without a value come last, where no text is left.
      order by coalesce(c.code, c.wide_code), c.place
    );
    return array(
      select t.value
      from (select unnest(v_texts) as value, unnest(v_places) as place) t
      order by t.place
    );
  elsif v_codes is not null then
    return array(select v_texts[unnest(v_codes)::integer + 129]);
  elsif v_wide_codes is not null then
    return array(select v_texts[unnest(v_wide_codes)]);
  end if;
  return array_fill(v_texts[1], array[p_column.last - p_column.first + 1]);
end;
$$;
