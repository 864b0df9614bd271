-- SQL that adds partial values to those that are there. p_partials yields group_id, minute, events,
-- numbers, total, least and greatest.
create function logloom_private.add_alert_partials_sql(p_partials text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'insert into logloom_private.alert_partials as p '
    || '(group_id, minute, events, numbers, total, least, greatest) ' || p_partials
    || ' on conflict (group_id, minute) do update set '
    || 'events = p.events + excluded.events, numbers = p.numbers + excluded.numbers, '
    || 'total = coalesce(p.total + excluded.total, p.total, excluded.total), '
    || 'least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest)';
end;
$$;
