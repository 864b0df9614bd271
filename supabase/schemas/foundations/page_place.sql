-- Where the page after an item begins: the item's time, null without p_after. PT400 where the list
-- has no such item, p_what being what the list holds and p_id the name of its id.
create function logloom_private.page_place(
  p_after text,
  p_what text,
  p_id text,
  p_at timestamptz
)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_after is not null and p_at is null then
    perform logloom_private.refuse('parameters.no_such_place', p_what, p_id);
  end if;
  return p_at;
end;
$$;
