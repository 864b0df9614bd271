-- Sets every sequence to the greatest number in the data, but never back. If write_seq began again
-- at 1, tails and alert rounds would not find new records.
create function logloom_private.align_sequences()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sequence regclass;
  v_used_sql text;
  v_used bigint;
  v_last bigint;
begin
  for v_sequence, v_used_sql in
    select pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass,
      format('select max(t.%I) from %s t', a.attname, a.attrelid::regclass)
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_class c on c.oid = a.attrelid
    where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and a.attidentity <> '' and not c.relispartition
    union all
    values
      (
        'logloom_private.queue_batch_id'::regclass,
        'select greatest(max(s.moved_through), '
          '(select max(q.batch_id) from logloom_private.queue q))'
          ' from logloom_private.queue_slots s'
      ),
      (
        'logloom_private.write_seq',
        'select greatest(max(a.write_seq), '
          '(select max(r.write_seq_to) from logloom_private.alert_rounds r), '
          '(select max(s.position_seq) - 1 from logloom.log_streams s))'
          ' from logloom_private.log_writes a'
      )
  loop
    execute v_used_sql into v_used;
    execute format('select s.last_value from %s s', v_sequence) into v_last;
    if v_used > v_last then
      perform setval(v_sequence, v_used);
    end if;
  end loop;
end;
$$;

-- Call this as postgres after restoring a dump. Restores what a dump lacks: jobs, grants of the
-- operations, the pre-request function, and pg_partman's configuration. Adjusts sequences and
-- partitions to the data. Can be called at any time, and repeatedly.
create function logloom_private.repair()
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.hold_writers();
  perform logloom_private.grant_operations();
  perform logloom_private.adopt_pre_request();
  perform logloom_private.align_sequences();
  perform logloom_private.maintain_partitions();
  perform logloom_private.schedule_jobs();
  perform logloom_private.compare_archive_anew();
  update logloom_private.installation
  set own_oid = 'logloom_private.installation'::regclass
  where singleton;
  return 'repaired';
end;
$$;
