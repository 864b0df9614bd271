-- Adds the records of a source to a group, those up to its write sequence. p_source: SQL that
-- yields a bounded number of them, newest first.
create function logloom_private.add_alert_piece(
  p_group logloom_private.alert_groups,
  p_source text
)
returns logloom_private.alert_piece
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_piece logloom_private.alert_piece;
begin
  execute 'with piece as materialized (' || p_source || '), added as ('
    || logloom_private.add_alert_partials_sql(
      'select $1, n.* from ('
      || logloom_private.alert_partials_sql(
        'select * from piece where write_seq <= $2', p_group.filter, p_group.number_sql
      ) || ') n'
    )
    || ') select (select count(*) from piece), o.ts, o.id '
    || 'from (select 1) _ left join lateral (select * from piece order by ts, id limit 1) o on true'
  into v_piece
  using p_group.group_id, p_group.write_seq;
  return v_piece;
end;
$$;
