-- Faster answers: whole messages, patterns and percentiles of sealed days.

set local check_function_bodies = off;

CREATE OR REPLACE FUNCTION logloom_private.equal_template (
  p_values jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return jsonb_build_object(
    'values', (
      select jsonb_agg(logloom_private.template_of(v)) from jsonb_array_elements_text(p_values) v
    ),
    -- What is equal to a text holds it.
    'literal', case when jsonb_array_length(p_values) = 1
      then logloom_private.template_of(p_values ->> 0) else '' end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.percentiles_sql (
  p_rows        text,
  p_keys        text[],
  p_percentiles jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_limits constant text :=
    logloom_private.percentiles_list(p_percentiles, 'l.low_@, l.high_@');
begin
  return format(
    $query$
      with found as materialized (
        select r.*, array[%2$s]::text[] as keys from (%1$s) r
      ), groups as materialized (
        select
          f.keys, (row_number() over ())::integer as id,
          sum(cardinality(array_remove(f.doubles, null)))::double precision as size
        from found f
        where f.doubles is not null
        group by f.keys
      ), numbers as not materialized (
        select g.id, g.size, f.doubles
        from found f
        join groups g using (keys)
        where f.doubles is not null
      ), bounds as materialized (
        -- So many that drawing them and sorting what they leave cost least together. The margin is
        -- four standard deviations of a median's place among them, and more of another's.
        select s.id, s.margin, %3$s
        from (
          select
            d.id, 2 / sqrt(d.size * d.share) as margin,
            d.doubles[1 + floor(random() * cardinality(d.doubles))::integer] as number
          from (
            select
              n.*,
              generate_series(1, floor(cardinality(n.doubles) * n.share + random())::integer)
            from (
              select
                n.id, n.size, least(cbrt(4 / greatest(n.size, 1)), 1) as share,
                -- Without nulls a number is read where it stands.
                case when array_position(n.doubles, null) is null then n.doubles
                  else array_remove(n.doubles, null) end as doubles
              from numbers n
              offset 0
            ) n
          ) d
        ) s
        group by s.id, s.margin
      ), limits as materialized (
        -- In the order of ids, so that the arrays of numbers are neither sorted nor hashed.
        select %5$s
        from groups g
        left join bounds b using (id)
      ), parts as (
        select l.id, l.size, %4$s, p.*
        from (
          select l.*, least(%7$s) as low
          from (
            select n.*, %10$s
            from numbers n
            cross join limits c
          ) l
          offset 0
        ) l
        cross join lateral (
          select %6$s
          from (select unnest(l.doubles) as number) u
          where u.number >= l.low
        ) p
      ), percentiles as (
        select l.id, %8$s
        from (select l.id, l.size, %4$s, %9$s from parts l) l
        group by l.id, l.size, %4$s
      )
      select f.*, p.*
      from found f
      left join groups g using (keys)
      left join percentiles p using (id)
    $query$,
    p_rows, array_to_string(p_keys, ', '),
    logloom_private.percentiles_list(
      p_percentiles,
      'percentile_disc(array[greatest(# - s.margin, 0), least(# + s.margin, 1)]) '
        || 'within group (order by s.number) as @'
    ),
    v_limits,
    logloom_private.percentiles_list(
      p_percentiles,
      'array_agg(case when # > b.margin then b.@[1] else ''-Infinity'' end order by g.id) '
        || 'as low_@, array_agg(case when # + b.margin < 1 then b.@[2] else ''Infinity'' end '
        || 'order by g.id) as high_@'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'count(*) filter (where u.number >= l.low_@) as above_@, '
        || 'count(*) filter (where u.number = l.low_@) as at_low_@, '
        || 'array_agg(u.number) filter (where u.number > l.low_@ and u.number < l.high_@) '
        || 'as between_@, '
        || 'count(*) filter (where u.number = l.high_@) as at_high_@'
    ),
    logloom_private.percentiles_list(p_percentiles, 'l.low_@'),
    logloom_private.percentiles_list(
      p_percentiles,
      'coalesce(logloom_private.percentile_within('
        || '# * (l.size - 1) - (l.size - sum(l.above_@)::double precision), '
        || 'l.low_@, sum(l.at_low_@)::bigint, '
        || 'array_agg(l.between_@) filter (where l.between_@ is not null), '
        || 'l.high_@, sum(l.at_high_@)::bigint), '
        || '(select percentile_cont(#) within group (order by u.number) from ('
        || 'select unnest(n.doubles) as number from numbers n where n.id = l.id) u)) as @'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'unnest(array[l.above_@]) as above_@, unnest(array[l.at_low_@]) as at_low_@, '
        || 'unnest(l.between_@) as between_@, unnest(array[l.at_high_@]) as at_high_@'
    ),
    logloom_private.percentiles_list(
      p_percentiles, 'c.low_@[n.id] as low_@, c.high_@[n.id] as high_@'
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_patterns (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_limit     integer                  DEFAULT NULL::integer
)
  RETURNS TABLE (
    template text,
    events   bigint,
    first_us bigint,
    last_us  bigint,
    place    bigint[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_block logloom_private.blocks;
  v_bits varbit;
  v_low smallint[];
  v_middle "char"[];
  v_high smallint[];
  v_top "char"[];
  v_from bigint;
  v_found integer;
  v_rows integer := 0;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks)
    order by c.last_ts desc
  loop
    exit when v_rows > p_limit;
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    v_low := v_block.ts_low;
    v_middle := v_block.ts_middle;
    v_high := v_block.ts_high;
    v_top := v_block.ts_top;
    v_from := extract(epoch from v_block.first_ts) * 1000000;
    -- Steps as block_steps has them, looked up where a row is made: to gather all positions, and
    -- then to put steps and templates side by side again, took as long as the rest.
    return query
    select
      u.template, u.events::bigint, v_from + u.first, v_from + u.last,
      array[v_from + u.first, v_block.block_id, u.position]
    from (
      select
        t.template, t.events, t.first as position, (
          v_low[t.first] + 32768 + coalesce(v_middle[t.first]::integer + 128, 0) * 65536
          + coalesce(v_high[t.first] + 32768, 0) * 16777216::bigint
          + coalesce(v_top[t.first]::integer + 128, 0) * 1099511627776
        ) * v_block.ts_unit as first,
        (
          v_low[t.last] + 32768 + coalesce(v_middle[t.last]::integer + 128, 0) * 65536
          + coalesce(v_high[t.last] + 32768, 0) * 16777216::bigint
          + coalesce(v_top[t.last]::integer + 128, 0) * 1099511627776
        ) * v_block.ts_unit as last
      from logloom_private.block_templates(v_block, v_bits) t
    ) u;
    get diagnostics v_found = row_count;
    v_rows := v_rows + v_found;
  end loop;
end;
$function$;

select logloom_private.finish_migration();
