-- SQL of the partial values per group and minute of what a source yields: SQL with group_id and the
-- columns of logloom.logs.
create function logloom_private.alert_partials_sql(p_source text, p_filter text, p_number_sql text)
returns text
language sql
immutable
-- "offset 0" has the number computed once a record, not once an aggregate.
return 'select m.group_id, m.minute, count(*) as events, count(m.number) as numbers, '
  || 'sum(m.number) as total, min(m.number) as least, max(m.number) as greatest '
  || 'from (select l.group_id, date_bin(''1 minute'', l.ts, ''epoch'') as minute, '
  || p_number_sql || ' as number from (' || p_source || ') l where (' || p_filter
  || ') offset 0) m group by m.group_id, m.minute';

-- SQL that adds them to those that are there.
create function logloom_private.add_alert_partials_sql(
  p_source text,
  p_group logloom_private.alert_groups
)
returns text
language sql
immutable
return 'insert into logloom_private.alert_partials as p '
  || '(group_id, minute, events, numbers, total, least, greatest) '
  || logloom_private.alert_partials_sql(p_source, p_group.filter, p_group.number_sql)
  || ' on conflict (group_id, minute) do update set '
  || 'events = p.events + excluded.events, numbers = p.numbers + excluded.numbers, '
  || 'total = coalesce(p.total + excluded.total, p.total, excluded.total), '
  || 'least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest)';
