-- PT400 with the first warning where the query probably means something else than was meant. For
-- what acts without anybody looking: such a rule would be silent for ever, such a deletion would
-- take what was to stay.
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
