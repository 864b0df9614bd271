-- The range that is asked for, [from, to), by default search_default_range to now. p_first, that of
-- a first page, stands for the bounds that are not given or move with now. PT400.
create function logloom_private.search_range(
  p_ts_from text,
  p_ts_to text,
  p_first tstzrange default null
)
returns tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
begin
  if p_first is not null then
    v_from := case when p_ts_from ~ '^\s*[^n\s]' then v_from else lower(p_first) end;
    v_to := case when p_ts_to ~ '^\s*[^n\s]' then v_to else upper(p_first) end;
  end if;
  v_to := coalesce(v_to, now());
  if v_from is null then
    v_from := v_to - (select s.search_default_range from logloom_private.settings s);
  end if;
  if not (v_from >= '1970-01-01T00:00:00Z' and v_to <= '9999-12-31T00:00:00Z') then
    perform logloom_private.refuse('search.range_leaves_the_years');
  elsif v_from >= v_to then
    perform logloom_private.refuse('search.range_is_empty');
  end if;
  return tstzrange(v_from, v_to);
end;
$$;
