-- SQL that adds the partial values of alert_partials_sql to those that are there.
create function logloom_private.add_alert_partials_sql(
  p_source text,
  p_group logloom_private.alert_groups
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'insert into logloom_private.alert_partials as p '
    || '(group_id, minute, events, numbers, total, least, greatest) '
    || logloom_private.alert_partials_sql(p_source, p_group.filter, p_group.number_sql)
    || ' on conflict (group_id, minute) do update set '
    || 'events = p.events + excluded.events, numbers = p.numbers + excluded.numbers, '
    || 'total = coalesce(p.total + excluded.total, p.total, excluded.total), '
    || 'least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest)';
end;
$$;
