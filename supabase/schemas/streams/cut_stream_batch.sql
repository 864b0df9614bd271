-- Reads the records after a stream's position: the records of its current batch again, or as many
-- as fit in a new batch. Until the deadline, each pass of the loop covers more of the writer's
-- steps than the pass before. The query was tested on every record before the returned end.
create function logloom_private.cut_stream_batch(
  p_stream logloom.log_streams,
  p_query logloom_private.compiled_query
)
returns logloom_private.stream_batch
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_page_time from logloom_private.settings s
  );
  v_is_again constant boolean := p_stream.batch_id is not null;
  v_last constant bigint := case when v_is_again then p_stream.batch_end_seq
    else logloom_private.last_write_seq() end;
  v_limit constant integer := case when v_is_again then 1000 else p_stream.batch_limit end;
  v_first bigint := p_stream.position_seq;
  v_id uuid := p_stream.position_id;
  v_step_last bigint;
  v_left integer;
  v_steps bigint := 1;
  -- A repeated batch must end where it ended before, so its size has no limit.
  v_bytes bigint := case when v_is_again then 1000000000 else p_stream.batch_bytes end;
  v_block_end bigint;
  v_sealed_sql text;
  v_sealed logloom.logs[];
  v_sealed_through bigint := -1;
  v_size bigint;
  v_found public.logloom_log_record[];
  v_write_seqs bigint[];
  v_fit integer;
  v_max_id constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  v_batch logloom_private.stream_batch;
begin
  v_batch.records := '{}';
  while v_first <= v_last loop
    v_step_last := case when v_is_again then v_last else least(v_first + v_steps - 1, v_last) end;
    v_left := v_limit + 1 - cardinality(v_batch.records);
    -- A block is read once for all steps in it.
    if v_first > v_sealed_through then
      select least(v_last, min(c.first_write_seq) - 1), least(v_last, min(c.last_write_seq))
      into v_sealed_through, v_block_end
      from logloom_private.blocks c
      where c.tenant_id = p_stream.tenant_id and c.last_write_seq >= v_first;
      if v_is_again then
        v_sealed_through := v_last;
      elsif v_first > v_sealed_through then
        v_sealed_through := v_block_end;
      end if;
      v_sealed_sql := logloom_private.sealed_tail_sql(
        p_stream.tenant_id, p_query, v_left, v_first, v_id, v_sealed_through, v_bytes
      );
      v_sealed := null;
      if v_sealed_sql is not null then
        execute 'select array(select l from ' || v_sealed_sql || ' l)' into v_sealed;
      end if;
    end if;
    v_step_last := least(v_step_last, v_sealed_through);
    execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.write_seq), '
      || 'coalesce(sum(r.record_bytes), 0) from ('
      || logloom_private.page_sql(
        p_query,
        logloom_private.log_tail_rows_sql(
          p_stream.tenant_id, p_query, v_left, v_first, v_id, v_step_last,
          case when v_sealed <> '{}' then
            format(
              '(select s.* from unnest($1) s where s.write_seq between %s and %s)',
              v_first, v_step_last
            )
          end
        ),
        v_left, v_bytes, true, ', l.write_seq, l.record_bytes'
      )
      || ') r'
    into v_found, v_write_seqs, v_size
    using v_sealed;
    -- The first record that does not fit is null, and so are all after it.
    v_fit := least(
      coalesce(array_position(v_found, null) - 1, cardinality(v_found)),
      v_limit - cardinality(v_batch.records)
    );
    v_batch.records := v_batch.records || v_found[1:v_fit];
    if v_fit < cardinality(v_found) then
      v_batch.end_seq := case when v_fit > 0 then v_write_seqs[v_fit] else v_batch.end_seq end;
      v_batch.end_id := case when v_fit > 0 then v_found[v_fit].id end;
      exit;
    end if;
    v_batch.end_seq := v_step_last;
    v_batch.end_id := null;
    v_first := v_step_last + 1;
    v_id := null;
    -- The loop ends after v_bytes, because sealed records beyond these bytes were not read.
    v_bytes := v_bytes - greatest(logloom_private.answered_bytes(v_found), v_size);
    v_steps := v_steps * 4;
    exit when v_bytes <= 0 or clock_timestamp() > v_deadline;
  end loop;
  -- After deletions, the repeated batch may have records from after its old end. Removes them.
  if v_is_again
    and (v_batch.end_seq, coalesce(v_batch.end_id, v_max_id))
      > (p_stream.batch_end_seq, coalesce(p_stream.batch_end_id, v_max_id))
  then
    v_batch.records := v_batch.records[1:(
      select count(*)
      from unnest(v_write_seqs[1:cardinality(v_batch.records)]) with ordinality w (write_seq, n)
      where (w.write_seq, v_batch.records[w.n].id)
        <= (p_stream.batch_end_seq, coalesce(p_stream.batch_end_id, v_max_id))
    )];
    v_batch.end_seq := p_stream.batch_end_seq;
    v_batch.end_id := p_stream.batch_end_id;
  end if;
  return v_batch;
end;
$$;
