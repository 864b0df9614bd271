-- The fields of an event but for ts, a comma between them, each as p_format writes it: %1$s is its
-- name, %2$s a cast, so that what breaks a rule of logloom.logs fails where it is read.
create function logloom_private.written_fields_sql(p_format text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      format(
        p_format, f.name,
        case f.name
          when 'level' then '::logloom_private.log_level'
          when 'attrs' then '::logloom_private.log_attrs'
        end
      ),
      ', ' order by f.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.sent and f.name <> 'ts'
  );
end;
$$;
