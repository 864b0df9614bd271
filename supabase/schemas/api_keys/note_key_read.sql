-- Records that a key is used, and counts the read. Uses a row that nobody has locked, or adds one,
-- so that no read waits for another. Raises PT401 if the key has ended meanwhile.
create function logloom_private.note_key_read(p_key_digest text, p_operation text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_day constant date := logloom_private.utc_day(now());
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  end if;
  perform logloom_private.note_key_use(v_key);
  update logloom_private.key_reads r
  set reads = r.reads + 1
  where r.ctid = (
    select f.ctid
    from logloom_private.key_reads f
    where f.key_id = v_key.key_id and f.day = v_day and f.operation = p_operation
    limit 1
    for no key update skip locked
  );
  if not found then
    insert into logloom_private.key_reads (key_id, day, operation, reads)
    values (v_key.key_id, v_day, p_operation, 1);
  end if;
exception when read_only_sql_transaction or disk_full then
  -- The answer matters more than the count.
  null;
end;
$$;
