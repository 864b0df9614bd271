-- Whether the value of a window follows from those of its minutes.
create function logloom_private.has_partials(p_query logloom_private.compiled_query)
returns boolean
language sql
immutable
return coalesce(p_query.aggregate, 'count') in ('count', 'rate', 'sum', 'avg', 'min', 'max')
  and not p_query.names_now
  and cardinality(p_query.by_fields) = 0;
