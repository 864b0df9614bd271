-- Builds the attrs of p_records records from columns, as JSON texts.
-- p_values[i] has the values of the column p_names[i] for the records p_first[i] to p_last[i]. The
-- column attrs covers all records; without it the attrs of all records are null. Rare keys have no
-- fixed order.
create function logloom_private.attribute_texts(
  p_records integer,
  p_names text[],
  p_first integer[],
  p_last integer[],
  p_values logloom_private.column_values[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_rest constant integer := array_position(p_names, 'attrs');
  -- Between two neighbouring bounds, the same columns have values.
  v_bounds constant integer[] := array(
    select b from unnest(p_first) b union select b + 1 from unnest(p_last) b order by 1
  );
  v_part text[];
  v_texts text[] := '{}';
begin
  if v_rest is null then
    return array_fill(null::text, array[p_records]);
  elsif p_records <= 400 then
    -- A statement for exactly these columns would be faster to run, but costs more to plan.
    return array(
      select
        case
          when bool_or(p.is_rest)
            then '{' || coalesce(string_agg(p.text, ', '), '') || '}'
        end
      from generate_series(1, p_records) r (n)
      left join (
        select
          c.key is null as is_rest, c.first + t.n - 1 as n,
          case when c.key is null then nullif(substr(t.text, 2, length(t.text) - 2), '')
            else c.key || t.text end as text
        from (
          select
            v.texts, p_first[v.n] as first,
            case when p_names[v.n] <> 'attrs'
              then to_json(substr(p_names[v.n], 7)) || ': ' end as key
          from unnest(p_values) with ordinality v (texts, n)
          offset 0
        ) c
        cross join lateral unnest(c.texts) with ordinality t (text, n)
        where t.text is not null
      ) p on p.n = r.n
      group by r.n
      order by r.n
    );
  end if;
  for v_at in 1..cardinality(v_bounds) - 1 loop
    execute (
      select format(
        $query$
          select array(
            select case when u.c%s is not null then '{' || concat_ws(', ', %s) || '}' end
            from (select %s) u
          )
        $query$,
        v_rest,
        string_agg(
          case when c.n = v_rest
            then format('nullif(substr(c%1$s, 2, length(c%1$s) - 2), '''')', c.n)
            else format('%L || c%s', to_json(substr(c.name, 7)) || ': ', c.n) end,
          ', ' order by c.n
        ),
        string_agg(
          format(
            'unnest((($1)[%1$s]).texts[%2$s:%3$s]) as c%1$s',
            c.n, v_bounds[v_at] - c.first + 1, v_bounds[v_at + 1] - c.first
          ),
          ', ' order by c.n
        )
      )
      from unnest(p_names, p_first, p_last) with ordinality c (name, first, last, n)
      where c.first <= v_bounds[v_at] and c.last >= v_bounds[v_at + 1] - 1
    )
    into v_part
    using p_values;
    v_texts := v_texts || v_part;
  end loop;
  return v_texts;
end;
$$;
