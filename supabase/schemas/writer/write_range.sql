-- insert_records, and where the data make it fail, halves until the dead letters stand alone.
create function logloom_private.write_range(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_write_seq bigint
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_code text;
  v_message text;
  v_batch_middle bigint;
  v_index_middle integer;
begin
  begin
    perform logloom_private.insert_records(
      p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq
    );
    return;
  exception when others then
    if not logloom_private.is_data_error(sqlstate) then
      raise;
    end if;
    v_code := sqlstate;
    v_message := sqlerrm;
  end;

  if p_batch_from < p_batch_to then
    v_batch_middle := (p_batch_from + p_batch_to) / 2;
    perform logloom_private.write_range(
      p_slot, p_batch_from, v_batch_middle, p_index_from, p_index_to, p_write_seq
    );
    perform logloom_private.write_range(
      p_slot, v_batch_middle + 1, p_batch_to, p_index_from, p_index_to, p_write_seq
    );
  elsif p_index_from < p_index_to then
    v_index_middle := (p_index_from + p_index_to) / 2;
    perform logloom_private.write_range(
      p_slot, p_batch_from, p_batch_to, p_index_from, v_index_middle, p_write_seq
    );
    perform logloom_private.write_range(
      p_slot, p_batch_from, p_batch_to, v_index_middle + 1, p_index_to, p_write_seq
    );
  else
    execute format(
      $query$
        insert into logloom_private.dead_letters (
          id, tenant_id, ts, received_at, %2$s, error_code, error_message
        )
        select
          (left(q.batch_key::text, 32) || lpad(to_hex($2 - 1), 4, '0'))::uuid,
          q.tenant_id, coalesce(q.ts[$2], q.received_at), q.received_at,
          %3$s, $3, $4
        from logloom_private.%1$I q
        where q.batch_id = $1
      $query$,
      'queue_slot_' || p_slot, logloom_private.written_fields_sql('%1$s'),
      logloom_private.written_fields_sql('q.%1$s[$2]')
    )
    using p_batch_from, p_index_from, v_code, v_message;
  end if;
end;
$$;
