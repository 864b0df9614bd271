-- Encodes the attributes of a block's records as columns, one for each key. p_attrs[i] has the
-- attributes of the record at position i. Rare keys and long keys share the column attrs.
create function logloom_private.encode_attributes(p_attrs jsonb[])
returns logloom_private.block_columns[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_columns logloom_private.block_columns[] := '{}';
  v_column logloom_private.block_columns;
  v_keys text[];
  v_first integer[];
  v_last integer[];
  v_count integer;
  v_attrs jsonb[];
  v_texts text[];
begin
  with k as materialized (
    select e.key, min(e.n) as first, max(e.n) as last, count(*) as count
    from (
      select jsonb_object_keys(a.attrs) as key, a.n
      from (
        select unnest(p_attrs) as attrs, generate_series(1, cardinality(p_attrs)) as n
      ) a
    ) e
    group by e.key
  )
  select array_agg(c.key), array_agg(c.first), array_agg(c.last), (select count(*) from k)
  into v_keys, v_first, v_last, v_count
  from (
    select k.* from k where length(k.key) <= 200 order by k.count desc, k.key collate "C" limit 80
  ) c;
  for v_at in 1..coalesce(cardinality(v_keys), 0) loop
    -- Slicing copies the array, so a key in both the first and the last record gets no slice.
    v_attrs := case
      when v_last[v_at] - v_first[v_at] + 1 = cardinality(p_attrs) then p_attrs
      else p_attrs[v_first[v_at]:v_last[v_at]]
    end;
    v_column := logloom_private.encode_column(
      'attrs.' || v_keys[v_at], v_first[v_at],
      array(select (unnest(v_attrs) -> v_keys[v_at])::text)
    );
    v_columns := v_columns || v_column;
  end loop;
  if v_count > coalesce(cardinality(v_keys), 0) then
    v_texts := array(select (unnest(p_attrs) - coalesce(v_keys, '{}'))::text);
  elsif array_position(p_attrs, null) is null then
    v_texts := array_fill('{}'::text, array[cardinality(p_attrs)]);
  else
    v_texts := array(select case when a is not null then '{}' end from unnest(p_attrs) a);
  end if;
  v_column := logloom_private.encode_column('attrs', 1, v_texts);
  if v_column.kind is not null then
    v_columns := v_columns || v_column;
  end if;
  return v_columns;
end;
$$;
