create type logloom_private.replay_result as (replayed integer, failed integer);

-- Tries again to write up to p_limit dead letters, under their own ids. The oldest failure comes
-- first.
create function logloom_private.replay_dead_letters(p_limit integer default 1000)
returns logloom_private.replay_result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_letter logloom_private.dead_letters;
  v_write_seq bigint;
  v_result logloom_private.replay_result := row(0, 0);
begin
  -- Takes the writer's lock, because write sequences must be in commit order.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  v_write_seq := nextval('logloom_private.write_seq');
  for v_letter in
    select d.* from logloom_private.dead_letters d order by d.failed_at, d.id limit p_limit
  loop
    begin
      perform logloom_private.create_partition(logloom_private.utc_day(v_letter.ts));
      execute logloom_private.added_records_sql(format(
        $query$
          insert into logloom.logs as l (
            id, tenant_id, ts, received_at, write_seq, %s, record_bytes
          )
          select
            ($1).id, ($1).tenant_id, ($1).ts, ($1).received_at, $2, %s,
            -- Measures again, because an operator may have changed the letter to repair it.
            logloom_private.bytes_of_record(
              jsonb_populate_record(null::logloom.logs, to_jsonb($1))
            )
        $query$,
        logloom_private.written_fields_sql('%1$s'),
        logloom_private.written_fields_sql('($1).%1$s%2$s')
      ))
      using v_letter, v_write_seq;
      delete from logloom_private.dead_letters d where d.id = v_letter.id;
      v_result.replayed := v_result.replayed + 1;
    exception when others then
      if not logloom_private.is_data_error(sqlstate) then
        raise;
      end if;
      update logloom_private.dead_letters d
      set attempts = d.attempts + 1,
        failed_at = clock_timestamp(),
        error_code = sqlstate,
        error_message = sqlerrm
      where d.id = v_letter.id;
      v_result.failed := v_result.failed + 1;
    end;
  end loop;
  return v_result;
end;
$$;

-- Deletes the writer's rows of a deleted tenant. A trigger does this. With foreign keys, deleting a
-- tenant during a step of the writer would fail the step for everybody.
create function logloom_private.forget_tenant()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because whoever deletes a tenant has no rights on these tables
begin
  delete from logloom_private.dead_letters d where d.tenant_id = old.tenant_id;
  delete from logloom.usage_days u where u.tenant_id = old.tenant_id;
  delete from logloom_private.usage_services u where u.tenant_id = old.tenant_id;
  delete from logloom.ingest_rule_hours h where h.tenant_id = old.tenant_id;
  return null;
end;
$$;

create trigger tenants_forget
after delete on logloom.tenants
for each row execute function logloom_private.forget_tenant();
