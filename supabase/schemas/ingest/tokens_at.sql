-- What a bucket holds after it was filled up to an instant.
create function logloom_private.tokens_at(
  p_tokens double precision,
  p_filled_at timestamptz,
  p_rate integer,
  p_burst integer,
  p_at timestamptz
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return least(p_burst, p_tokens + p_rate * extract(epoch from greatest(p_at - p_filled_at, '0')));
end;
$$;
