-- The order of a page: that of the query's sort, or p_order. PT400 where they differ.
create function logloom_private.page_order(p_plan jsonb, p_order text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_order constant text := case (p_plan -> 'sort' -> 0 -> 'descending')::boolean
    when true then 'desc' when false then 'asc' end;
begin
  if p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  elsif v_order <> p_order then
    perform logloom_private.refuse('search.order_is_another', v_order);
  end if;
  return coalesce(v_order, p_order, 'desc');
end;
$$;
