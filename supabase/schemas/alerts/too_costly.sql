-- What last_error says of a rule that went beyond its budget.
create function logloom_private.too_costly(p_records bigint, p_milliseconds double precision)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    'The rule costs too much: %s records took %s ms. Narrow its query or shorten its window; it '
      || 'rests for a while.',
    p_records, round(p_milliseconds::numeric)
  );
end;
$$;
