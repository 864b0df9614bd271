-- The test of ts:2026-11-21 and ts:>now-1h: from <= time < to. bounds: from and to (null: no
-- bound). For a relative bound also from_shift and to_shift, in microseconds from now.

create function logloom_private.query_check_within(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_from timestamptz,
  p_from_moves boolean,
  p_to timestamptz,
  p_to_moves boolean
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_moves constant boolean := coalesce(p_from_moves, false) or coalesce(p_to_moves, false);
begin
  p_state.names_now := p_state.names_now or v_moves;
  if p_from >= p_to and not v_moves then
    p_state.node := '{"type": "none"}';
    return p_state;
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'within',
    'bounds', jsonb_build_object(
      'from', to_char(p_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'to', to_char(p_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'from_shift', case when p_from_moves
        then (extract(epoch from p_from - p_state."now") * 1000000)::bigint end,
      'to_shift', case when p_to_moves
        then (extract(epoch from p_to - p_state."now") * 1000000)::bigint end
    )
  ));
  return p_state;
end;
$$;

create function logloom_private.query_check_time(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := p_state."now";
  v_span logloom_private.query_span := logloom_private.query_time(p_token, p_position, v_now);
begin
  if v_span.names_now and logloom_private.query_text(p_token) ~ '^[+-]' then
    -- ts:-15m means the last 15 minutes, ts:+15m the next 15.
    v_span.starts := least(v_span.starts, v_now);
    v_span.ends := greatest(v_span.ends, v_now + interval '1 microsecond');
  end if;
  return logloom_private.query_check_within(
    p_state, p_field, v_span.starts, v_span.names_now, v_span.ends, v_span.names_now
  );
end;
$$;

create function logloom_private.query_check_range_of_times(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lower constant logloom_private.query_span := logloom_private.query_time(
    p_range.lower_token, p_range.lower_position, p_state."now"
  );
  v_upper constant logloom_private.query_span := logloom_private.query_time(
    p_range.upper_token, p_range.upper_position, p_state."now"
  );
begin
  return logloom_private.query_check_within(
    p_state, p_field,
    case when p_range.lower_open then v_lower.ends else v_lower.starts end, v_lower.names_now,
    case when p_range.upper_open then v_upper.starts else v_upper.ends end, v_upper.names_now
  );
end;
$$;

-- Builds SQL for a time: a constant, or p_shift microseconds from p_now_sql if it is relative.
create function logloom_private.instant_sql(
  p_instant text,
  p_shift bigint,
  p_now_sql text
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_shift is not null and p_now_sql is not null then
    return '(' || p_now_sql || format(' + interval ''%s microseconds'')', p_shift);
  end if;
  return quote_literal(p_instant) || '::timestamptz';
end;
$$;

create function logloom_private.within_sql(p_bounds jsonb, p_value text, p_now_sql text)
returns text
language sql
stable
return coalesce(
  nullif(concat_ws(
    ' and ',
    p_value || ' >= ' || logloom_private.instant_sql(
      p_bounds ->> 'from', (p_bounds ->> 'from_shift')::bigint, p_now_sql
    ),
    p_value || ' < ' || logloom_private.instant_sql(
      p_bounds ->> 'to', (p_bounds ->> 'to_shift')::bigint, p_now_sql
    )
  ), ''),
  p_value || ' is not null'
);
