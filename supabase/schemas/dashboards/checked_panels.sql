-- Checks panels and returns them as they are stored (default width 6). Raises PT400 if a panel is
-- invalid, or if its query does not compile.
create function logloom_private.checked_panels(p_panels jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_panel jsonb;
  v_n bigint;
  v_checked jsonb := '[]';
begin
  if jsonb_typeof(p_panels) <> 'array' then
    perform logloom_private.refuse('dashboards.panels_are_no_array');
  elsif jsonb_array_length(p_panels) > 20 then
    perform logloom_private.refuse('dashboards.log_dashboards_panels_are_few');
  end if;
  for v_panel, v_n in
    select p.panel, p.n
    from jsonb_array_elements(p_panels) with ordinality p (panel, n)
    order by p.n
  loop
    if jsonb_typeof(v_panel) <> 'object'
      or v_panel - array['title', 'query_dsl', 'kind', 'width'] <> '{}'
      or jsonb_typeof(v_panel -> 'title') is distinct from 'string'
      or jsonb_typeof(v_panel -> 'query_dsl') is distinct from 'string'
      or length(v_panel ->> 'title') not between 1 and 100
      or (v_panel ->> 'kind') is null
      or v_panel ->> 'kind' not in ('lines', 'bars', 'number')
      or coalesce(v_panel ->> 'width', '6') !~ '^([1-9]|1[0-2])$'
    then
      perform logloom_private.refuse('dashboards.panel_is_invalid', v_n::text);
    end if;
    perform logloom_private.check_query(v_panel ->> 'query_dsl');
    v_checked := v_checked || jsonb_build_object(
      'title', v_panel -> 'title', 'query_dsl', v_panel -> 'query_dsl', 'kind', v_panel -> 'kind',
      'width', coalesce(v_panel ->> 'width', '6')::integer
    );
  end loop;
  return v_checked;
end;
$$;
