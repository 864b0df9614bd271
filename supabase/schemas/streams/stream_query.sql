-- Returns the query of a stream in its view, as the view is now. If the view hides
-- attrs.logloom_hops, the query itself leaves out records that were passed on three times. Raises
-- PT403 or PT400 if the query no longer works in the view.
create function logloom_private.stream_query(p_stream logloom.log_streams)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.scope_of_view(p_stream.tenant_id, p_stream.view_id);
  v_query logloom_private.compiled_query;
  v_hops jsonb;
begin
  if logloom_private.is_hidden('attrs.logloom_hops', v_scope.hidden_fields) then
    v_hops := (logloom_private.parse_query('-@logloom_hops:>=3')).tree;
    v_scope.filter := logloom_private.both_filters(v_scope.filter, v_hops);
  end if;
  v_query := logloom_private.scoped_query(
    v_scope, logloom_private.parse_query(p_stream.query_dsl, now()), p_stream.query_dsl
  );
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  return v_query;
end;
$$;

-- Returns how often streams passed a record on, as our receivers count it; 0 if never.
create function logloom_private.record_hops(p_attrs jsonb)
returns integer
language sql
immutable
return case when jsonb_typeof(p_attrs -> 'logloom_hops') = 'number'
  then greatest(least((p_attrs ->> 'logloom_hops')::numeric, 99), 0)::integer else 0 end;
