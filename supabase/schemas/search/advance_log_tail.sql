-- Moves a tail over the next p_records records, whether they match or not, since a search for those
-- that do took too long. more: whether there were any.
create function logloom_private.examine_log_tail(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_records integer,
  p_last bigint,
  p_tail logloom_private.log_tail
)
returns logloom_private.log_tail
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all logloom_private.compiled_query;
  v_found public.logloom_log_record[];
  v_first bigint;
  v_id uuid;
begin
  v_all.tree := '{"type": "all"}';
  v_all.filter := 'true';
  execute 'with piece as materialized (select l.*, ' || p_query.filter || ' as is_found '
    || logloom_private.log_tail_rows_sql(
      p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last,
      logloom_private.sealed_tail_sql(
        p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last, 9223372036854775807
      )
    )
    || '), found as materialized ('
    || logloom_private.page_sql(
      p_query,
      logloom_private.masked_sql(p_query, 'from piece l where l.is_found'),
      'l.write_seq, l.id', p_records, (select s.max_page_bytes from logloom_private.settings s),
      p_others => ', l.write_seq, l.id'
    )
    || ') select array(select f.record from found f where f.record is distinct from null '
    || 'order by f.write_seq, f.id), o.write_seq, o.id '
    || 'from (select 1) _ left join lateral (select p.write_seq, p.id from piece p '
    || 'where (p.write_seq, p.id) < all ('
    || 'select f.write_seq, f.id from found f where f.record is not distinct from null) '
    || 'order by 1 desc, 2 desc limit 1) o on true'
  into v_found, v_first, v_id;
  p_tail.logs := p_tail.logs || v_found;
  p_tail.more := v_first is not null;
  p_tail.first := coalesce(v_first, p_tail.first);
  p_tail.id := v_id;
  return p_tail;
end;
$$;

-- Moves a tail on by p_limit records that match, by max_page_bytes of them, or as far as it comes
-- in its time. It looks at more and more of the writer's steps at a time: a client that was away
-- does not read all that it missed for each page.
create function logloom_private.advance_log_tail(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_last bigint,
  p_tail logloom_private.log_tail
)
returns logloom_private.log_tail
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_page_time constant interval := (select s.tail_page_time from logloom_private.settings s);
  v_deadline timestamptz := clock_timestamp() + v_page_time;
  v_steps bigint := 4;
  v_step_last bigint;
  v_left bigint;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_found public.logloom_log_record[];
  v_write_seqs bigint[];
  v_has_moved boolean := false;
  v_records integer := 4;
  v_began_at timestamptz;
begin
  begin
    while p_tail.first <= p_last loop
      v_step_last := least(p_tail.first + v_steps - 1, p_last);
      v_left := p_limit + 1 - cardinality(p_tail.logs);
      for v_fits in 0..1 loop
        execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.write_seq) from ('
          || logloom_private.log_tail_sql(
            p_tenant_id, p_query, v_left::integer, p_tail.first, p_tail.id, v_step_last,
            case v_fits when 0 then v_bytes * v_left / (p_limit + 1)
              else v_bytes - logloom_private.answered_bytes(p_tail.logs) end,
            v_fits = 1
          )
          || ') r'
        into v_found, v_write_seqs;
        exit when array_position(v_found, null) is null;
      end loop;
      v_has_moved := true;
      if array_position(v_found, null) is not null then
        v_found := array_remove(v_found, null);
      end if;
      if cardinality(p_tail.logs) + cardinality(v_found) > p_limit then
        v_found := v_found[1:p_limit - cardinality(p_tail.logs)];
      end if;
      p_tail.logs := case when p_tail.logs = '{}' then v_found else p_tail.logs || v_found end;
      if cardinality(v_found) < cardinality(v_write_seqs) then
        p_tail.more := true;
        -- After the last that this step found; where it was, if the page was full before.
        if cardinality(v_found) > 0 then
          p_tail.first := v_write_seqs[cardinality(v_found)];
          p_tail.id := v_found[cardinality(v_found)].id;
        end if;
        v_found := null;
        return p_tail;
      end if;
      v_found := null;
      p_tail.first := v_step_last + 1;
      p_tail.id := null;
      p_tail.more := p_tail.first <= p_last;
      if clock_timestamp() > v_deadline then
        return p_tail;
      end if;
      v_steps := v_steps * 4;
    end loop;
    return p_tail;
  exception when query_canceled then
    p_tail.more := true;
  end;
  -- Cancelled: what was found stands. Where that is nothing, some records by themselves; there is
  -- no timeout any more, so that they are few.
  v_deadline := clock_timestamp() + v_page_time;
  while not v_has_moved or (clock_timestamp() < v_deadline and cardinality(p_tail.logs) = 0) loop
    v_began_at := clock_timestamp();
    p_tail := logloom_private.examine_log_tail(
      p_tenant_id, p_query, least(v_records, p_limit), p_last, p_tail
    );
    v_has_moved := true;
    exit when not p_tail.more;
    -- Nothing ends the next piece: it must be sure to end in time by itself.
    if clock_timestamp() - v_began_at < v_page_time / 8 then
      v_records := least(v_records * 2, p_limit);
    end if;
  end loop;
  return p_tail;
end;
$$;
