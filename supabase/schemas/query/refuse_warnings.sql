-- For what acts without anybody looking: a rule that looks for something else than was meant would
-- be silent for ever, a deletion takes what was to stay.
-- PT400 where the query probably means something else than was meant, with its first warning.
create function logloom_private.refuse_warnings(p_query logloom_private.compiled_query)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_array_length(p_query.warnings) > 0 then
    perform logloom_private.refuse_at(
      (p_query.warnings -> 0 ->> 'position')::integer,
      'query.means_something_else',
      p_query.warnings -> 0 ->> 'message',
      p_query.warnings -> 0 ->> 'suggestion'
    );
  end if;
end;
$$;
