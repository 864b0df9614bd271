-- The aggregates of a query, count() where it has none.
create function logloom_private.stats_aggregates(p_query logloom_private.compiled_query)
returns jsonb
language sql
immutable
return coalesce(
  p_query.plan -> 'aggregates', '[{"kind": "count", "name": "count", "field": null}]'
);
