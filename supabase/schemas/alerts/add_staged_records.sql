-- Adds the records of a staging table to groups with the same filter and number, of each group
-- those from an instant on that arrived since the group's write sequence. One statement for the
-- groups of all tenants; each group reads its own tenant's records by the index, never all.
create function logloom_private.add_staged_records(
  p_table text,
  p_group_ids bigint[],
  p_froms timestamptz[],
  p_filter text,
  p_number_sql text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  execute logloom_private.add_alert_partials_sql(
    'select m.group_id, m.minute, count(*), count(m.number), sum(m.number), min(m.number), '
    || 'max(m.number) from (select i.group_id, date_bin(''1 minute'', l.ts, ''epoch'') as minute, '
    || p_number_sql || ' as number from (select n.group_id, n.starts, g.tenant_id, g.filled_id, '
    || 'coalesce(g.write_seq, -1) as write_seq from unnest($1, $2) n (group_id, starts) '
    || 'join logloom_private.alert_groups g on g.group_id = n.group_id offset 0) i join '
    || p_table || ' l on l.tenant_id = i.tenant_id and l.ts >= i.starts '
    || 'where l.write_seq > i.write_seq '
    || 'and (l.ts > i.starts or i.filled_id is null or l.id >= i.filled_id) and ('
    || p_filter || ') offset 0) m group by 1, 2'
  )
  using p_group_ids, p_froms;
end;
$$;
