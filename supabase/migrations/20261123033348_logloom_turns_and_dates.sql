-- Where records are spread over nodes, searches of sealed records take turns with others of their
-- tenant on the node, and numbers of sealed days are read.
-- In a project whose dates are not written the ISO way, a time that was written in its own time zone
-- could be read as one of another zone with the same abbreviation (IST): alerts looked at wrong
-- windows. Jobs and operations now write and read times in one form.
-- Functions only: the writer goes on.

SET local check_function_bodies = off;

CREATE OR REPLACE FUNCTION logloom_private.advance_alert_groups (
  p_round    logloom_private.alert_rounds,
  p_deadline timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_staged constant text := 'pg_temp.alert_arrivals';
  v_unit record;
begin
  for v_unit in
    select
      u.filter, u.number_sql, array_agg(u.group_id) as group_ids,
      array_agg(u.filled_from) as froms, sum(u.records) as records
    from (
      select
        g.*, a.records,
        sum(a.records) over (partition by g.digest order by g.group_id) / 20000 as part
      from logloom_private.alert_groups g
      join logloom_private.alert_round_arrivals a on a.tenant_id = g.tenant_id
      where g.arrival < p_round.arrival_to
        and logloom_private.is_cheap(a.records, g.ms_per_record)
    ) u
    group by u.digest, u.part, u.filter, u.number_sql
    order by sum(u.records * u.ms_per_record)
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, v_unit.filter, v_unit.number_sql, v_unit.records,
      p_round
    );
    if clock_timestamp() > p_deadline then
      return true;
    end if;
  end loop;
  return false;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.begin_alert_round (
  p_now       timestamp with time zone,
  p_watermark timestamp with time zone
)
  RETURNS logloom_private.alert_rounds
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_last logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_window_minutes integer;
  v_from timestamptz;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- Nobody else reads these.
  delete from logloom_private.log_removals r
  where not exists (
    select from logloom_private.alert_groups g where g.tenant_id = r.tenant_id
  );
  -- Locked, so that a second evaluator continues this round instead of opening the same again.
  select r.* into v_last from logloom_private.alert_rounds r for update;
  if v_last.window_end > p_now then
    -- The clock went back: what is dated ahead would keep the rules waiting until then.
    v_last := null;
    update logloom.alert_rules r set last_evaluated_at = null where r.last_evaluated_at > p_now;
  end if;
  select max(r.window_minutes) into v_window_minutes from logloom.alert_rules r where r.enabled;
  v_round.window_end := logloom_private.whole_minute(p_watermark);
  if v_window_minutes is null
    or p_watermark is null
    or p_now - p_watermark > v_settings.alert_watermark_limit
    or (v_round.window_end <= v_last.window_end and v_last.finished_at is not null)
  then
    return null;
  end if;

  v_from := v_round.window_end - make_interval(mins => v_window_minutes)
    - v_settings.alert_grace - v_settings.alert_catch_up_limit;
  v_round.singleton := true;
  if v_last.window_end > v_round.window_end - v_settings.alert_catch_up_limit then
    -- A round that was cut short is done again from where it began.
    v_round.arrival_from := case
      when v_last.finished_at is null then v_last.arrival_from
      else v_last.arrival_to
    end;
    v_round.arrival_to := logloom_private.last_arrival(v_last.arrival_to);
  else
    -- Too long ago: every group reads its windows anew.
    v_round.arrival_to := logloom_private.last_arrival(0);
    v_round.arrival_from := v_round.arrival_to;
  end if;

  insert into logloom_private.alert_rounds (window_end, arrival_from, arrival_to)
  values (v_round.window_end, v_round.arrival_from, v_round.arrival_to)
  on conflict (singleton) do update
  set window_end = excluded.window_end,
    arrival_from = excluded.arrival_from,
    arrival_to = excluded.arrival_to,
    finished_at = null;
  perform logloom_private.stage_alert_arrivals(v_round, v_from);
  perform logloom_private.prepare_alert_groups(v_round);
  return v_round;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.candidate_chunks (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb
)
  RETURNS SETOF bigint
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO ''
  SET plan_cache_mode TO 'auto'
  AS $function$
declare
  v_leaf constant jsonb := logloom_private.needed_leaf(p_tree);
  v_values constant text[] := array(select jsonb_array_elements_text(v_leaf -> 'values'));
begin
  return query
  select c.chunk_id
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
    and (
      v_leaf is null or coalesce(
        (
          -- A value, not exists: that could be answered by looking at all of the tenant's chunks.
          select case
            when k.filter is not null
              then logloom_private.filter_may_hold(k.filter, v_values)
            when k.kind = 'dictionary' then k.dictionary && v_values
            else true
          end
          from logloom_private.sealed_columns k
          where k.tenant_id = p_tenant_id and k.chunk_id = c.chunk_id
            and k.name = v_leaf ->> 'field'
        ),
        -- Without the column no record has a value.
        false
      )
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_operation (
  p_search_path text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_headers constant json := nullif(current_setting('request.headers', true), '')::json;
  v_method constant text := current_setting('request.method', true);
  v_operation constant text := logloom_private.requested_operation(
    current_setting('request.path', true), p_search_path
  );
  v_is_known boolean;
begin
  if v_operation is null then
    return;
  end if;
  if v_headers ->> 'authorization' is null then
    perform logloom_private.refuse('callers.authorization_is_missing');
  end if;
  if current_user = 'service_role' then
    v_is_known := true;
  elsif current_user <> 'authenticated' then
    v_is_known := false;
  elsif v_operation = 'create_tenant' then
    -- The one operation for users who have no tenant yet.
    v_is_known := logloom_private.token_is_valid(logloom_private.claims());
  else
    v_is_known := logloom_private.current_tenant_id() is not null;
  end if;
  if v_is_known is not true then
    perform logloom_private.refuse('callers.not_signed_in');
  end if;
  if v_method <> 'POST' then
    perform logloom_private.refuse('callers.method_is_not_allowed', v_method);
  end if;
  -- Hosted projects have 0, which cuts a double at its 15th digit; a project, or the request's
  -- Prefer, may have a time zone; and dates as 23/11/2026 IST are read as another zone's.
  perform
    set_config('extra_float_digits', '1', true),
    set_config('timezone', 'UTC', true),
    set_config('datestyle', 'ISO', true);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_bits (
  p_chunk  logloom_private.sealed_chunks,
  p_tree   jsonb,
  p_filter text,
  p_fields text[],
  p_keys   text[],
  p_from   timestamp with time zone,
  p_to     timestamp with time zone
)
  RETURNS bit varying
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET plan_cache_mode TO 'auto'
  SET jit TO 'off'
  AS $function$
declare
  v_bits varbit[];
  v_within varbit;
  v_rest varbit;
  v_found integer[];
begin
  perform logloom_private.take_turn();
  v_bits := logloom_private.node_bits(p_chunk, coalesce(p_tree, '{"type": "unknown"}'));
  if bit_count(v_bits[2]) > 0 and (p_chunk.first_ts < p_from or p_chunk.last_ts >= p_to) then
    v_within := logloom_private.range_bits(p_chunk, v_bits[2], p_from, p_to);
    v_bits := array[v_bits[1] & v_within, v_within];
  end if;
  v_rest := v_bits[2] & ~v_bits[1];
  if bit_count(v_rest) = 0 then
    return v_bits[1];
  end if;
  v_found := logloom_private.filtered_positions(
    p_chunk, logloom_private.bit_positions(v_rest), p_filter, p_fields, p_keys
  );
  return v_bits[1] | logloom_private.position_bits(v_found, p_chunk.records);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.first_records_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_filter    text,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_reads     text                           DEFAULT NULL::text,
  p_is_part   boolean                        DEFAULT false
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_order constant text := format(
    ' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit
  );
  v_rows constant text := case
    when p_is_part then logloom_private.tenant_rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_expired => true
    )
    else logloom_private.rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_reads || ' l.ts l.id', p_order, p_limit
    )
  end || v_order;
begin
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return v_rows;
  end if;
  return 'from ((select l.* ' || v_rows
    || ') union all select l.* from logloom_private.sealed_page('
    || format(
      '%s, %L, %L, %L, %L, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      case when p_is_part then p_from
        else logloom_private.kept_since(p_tenant_id, p_from) end,
      p_to, p_query.tree, p_query.filter, p_limit, p_order, p_ts, p_id, p_reads
    )
    || ') l) l' || v_order;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.judge_alert_rules (
  p_rule_ids uuid[],
  p_round    logloom_private.alert_rounds,
  p_now      timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
begin
  return logloom_private.settle_alert_windows(
    array(
      select row(w.*)::logloom_private.alert_window
      from logloom_private.grouped_alert_windows(p_rule_ids, p_round) w
      union all
      select row(w.*)::logloom_private.alert_window
      from logloom_private.failed_alert_windows(p_rule_ids, p_round) w
    ),
    p_round, p_now
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_tail_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_days timestamptz[];
  v_filter text;
  v_arrivals text;
  v_rows text;
  v_is_sealed boolean;
begin
  select array_agg(distinct a.day::timestamp at time zone 'UTC') into v_days
  from logloom_private.log_arrivals a
  where a.arrival >= p_first;
  v_arrivals := format('l.arrival between %s and %s and ', p_first, p_last);
  if p_id is not null then
    v_arrivals := v_arrivals || format('(l.arrival > %s or l.id > %L::uuid) and ', p_first, p_id);
  end if;
  v_filter := v_arrivals;
  -- Day by day, so that one late event does not bring in all days between. A client that was away
  -- for so long that there are many of them reads from the first to the last.
  if cardinality(v_days) <= 31 then
    v_filter := v_filter || '(' || (
      select string_agg(
        format('l.ts >= %L::timestamptz and l.ts < %L::timestamptz', d.day, d.day + '24 hours'),
        ' or '
      )
      from unnest(v_days) d (day)
    ) || ') and ';
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, v_days[1], v_days[cardinality(v_days)] + interval '24 hours',
    v_filter || p_query.filter, null
  );
  -- What a client that was away for long missed may be sealed by now.
  v_is_sealed := exists (
    select
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.last_arrival >= p_first and c.first_arrival <= p_last
  );
  return 'select ' || logloom_private.log_record_sql() || ' as record, l.arrival '
    || case when v_is_sealed then
        'from (select l.* ' || v_rows
        || ' union all select l.* from logloom_private.sealed_arrivals('
        || format(
          '%s, %L, %L, %L, %L',
          logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_first, p_last,
          p_query.tree, p_query.filter
        )
        || ') l where ' || v_arrivals
        || format('l.ts >= %L) l', logloom_private.kept_from(p_tenant_id))
      else
        v_rows
      end
    || ' order by l.arrival, l.id limit ' || p_limit;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.mask_counts_sql (
  p_tree jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
declare
  v_test constant text := logloom_private.masks_sql(p_tree);
begin
  if v_test is null then
    return null;
  elsif v_test !~ '\ml\.(?:msg|folded)\M' then
    return $query$
      select l.service, l.level, sum(l.records)::bigint
      from logloom_private.sealed_chunks c
      cross join lateral unnest(c.section_services, c.section_levels, c.section_records)
        l (service, level, records)
      where c.tenant_id = $1 and c.chunk_id = any($2) and $query$ || v_test || $query$
      group by l.service, l.level
    $query$;
  end if;
  -- "|| '{}'" reads a stored array once, "offset 0" keeps it for all that use it. The masks are
  -- read where the words of a section say that it may have one.
  return format(
    $query$
      select l.service, l.level, sum(l.count)::bigint
      from (
        select
          x.*, x.stored_masks || '{}'::text[] as masks,
          x.stored_mask_records || '{}'::integer[] as mask_records
        from (
          select
            c.separator, c.section_services, c.section_levels, c.section_records, c.section_masks,
            c.masks as stored_masks, c.mask_records as stored_mask_records,
            array(
              select l.n::integer
              from unnest(c.section_services, c.section_levels, c.section_words)
                with ordinality l (service, level, words, n)
              where %1$s
              order by l.n
            ) as found
          from logloom_private.sealed_chunks c
          where c.tenant_id = $1 and c.chunk_id = any($2) and logloom_private.take_turn($3)
          offset 0
        ) x
        where x.found <> '{}'
        offset 0
      ) c
      cross join lateral (
        select l.*, (
          select sum(u.masks)::integer from unnest(c.section_masks[1:l.n]) u (masks)
        ) as last
        from (
          select
            f.n, c.section_services[f.n] as service, c.section_levels[f.n] as level,
            c.section_records[f.n] as records, c.section_masks[f.n] as mask_count,
            c.masks[f.n] as masks, %2$s as folded
          from unnest(c.found) f (n)
          offset 0
        ) l
        where %3$s
        offset 0
      ) s
      cross join lateral (
        select s.service, s.level, u.msg, u.folded, u.count
        from unnest(%4$s, %5$s, c.mask_records[s.last - s.mask_count + 1:s.last])
          u (msg, folded, count)
        where s.mask_count > 0 and u.count is not null
        union all
        select s.service, s.level, null, null, s.records
        where s.mask_count = 0
      ) l
      where %6$s
      group by l.service, l.level
    $query$,
    logloom_private.sections_sql(p_tree, true),
    case when v_test ~ '\ml\.folded\M' then 'lower(c.masks[f.n] collate pg_c_utf8)'
      else 'null::text' end,
    logloom_private.sections_sql(p_tree, false),
    case when v_test ~ '\ml\.msg\M' then 'string_to_array(s.masks, c.separator)'
      else 'null::text[]' end,
    case when v_test ~ '\ml\.folded\M' then 'string_to_array(s.folded, c.separator)'
      else 'null::text[]' end,
    v_test
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.numbers_source (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_key       text
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_exact constant boolean := jsonb_path_exists(
    p_query.plan -> 'aggregates', '$[*] ? (@.fraction == null && @.field != null)'
  );
  v_doubles constant boolean := jsonb_path_exists(
    p_query.plan -> 'aggregates', '$[*] ? (@.fraction != null)'
  );
  v_number constant text := format('logloom_private.json_number(l.attrs -> %L)', p_key);
  v_rows_from constant timestamptz := logloom_private.first_rows(p_tenant_id, p_from, p_to);
  v_sql text := format(
    'select s.service, s.level, s.events, s.numbers, s.doubles '
      || 'from logloom_private.sealed_numbers(%s, %L, %L, %L, %L, %L, %L, %L) s',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree, p_query.filter, p_key,
    v_exact, v_doubles
  );
begin
  if v_rows_from < p_to then
    v_sql := v_sql || ' union all select l.service, l.level, 1, '
      || case when v_exact then format('array[%s]', v_number) else 'null' end || ', '
      || case when v_doubles then format('array[logloom_private.finite_double(%s)]', v_number)
        else 'null' end
      || ' '
      || logloom_private.rows_sql(
        p_tenant_id, v_rows_from, p_to, p_query.filter, 'l.service l.level ' || v_number
      );
  end if;
  return (
    'from (select s.service, s.level, unnest(array[s.events]) as records'
      || case when v_exact then ', unnest(s.numbers) as number' else '' end
      || case when v_doubles then ', unnest(s.doubles) as double' else '' end
      || ' from (' || v_sql || ') s'
      || case when p_query.by_fields = '{}' then ''
        else ' order by s.' || array_to_string(p_query.by_fields, ', s.') end
      || ') l',
    'coalesce(sum(l.records), 0)::double precision', 'l.number', 'l.double'
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_source_sql (
  p_query logloom_private.compiled_query
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  return 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format(
      '%s, $2, $3, %L, %L, null) s',
      logloom_private.scanned_tenant_sql('$1'), p_query.tree, p_query.filter
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_windows (
  p_round logloom_private.alert_rounds,
  p_now   timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_began constant timestamptz := clock_timestamp();
  v_step_rules constant integer := (select s.alert_step_rules from logloom_private.settings s);
  v_deadline timestamptz;
  v_rule_ids uuid[];
  v_group_ids bigint[];
  v_tenant_id text;
  v_fired integer;
begin
  v_rule_ids := logloom_private.plan_alert_rules(p_now, v_step_rules / 2);
  if cardinality(v_rule_ids) > 0 then
    return logloom_private.judge_alert_rules(v_rule_ids, p_round, p_now);
  end if;
  v_group_ids := logloom_private.fill_small_alert_groups(p_round, v_step_rules * 2);
  if cardinality(v_group_ids) > 0 then
    return logloom_private.judge_alert_groups(v_group_ids, p_round, p_now);
  end if;

  -- Who took least of this round comes first.
  select p.tenant_id into v_tenant_id
  from (
    select g.tenant_id from logloom_private.pending_alert_groups(p_round) g
    union all
    select s.tenant_id from logloom_private.pending_alert_scans(p_round) s
  ) p
  left join logloom_private.alert_spending t on t.tenant_id = p.tenant_id
  order by coalesce(t.spent_ms, 0), p.tenant_id
  limit 1;
  if v_tenant_id is null then
    return null;
  end if;
  select v_began + s.alert_rule_budget into v_deadline from logloom_private.settings s;
  v_group_ids := logloom_private.read_alert_groups(v_tenant_id, p_round, p_now, v_deadline);
  v_fired := logloom_private.judge_alert_groups(v_group_ids, p_round, p_now);
  if clock_timestamp() < v_deadline then
    v_fired := v_fired
      + logloom_private.scan_alert_rules(v_tenant_id, p_round, p_now, v_deadline);
  end if;
  insert into logloom_private.alert_spending as s (tenant_id, spent_ms)
  values (v_tenant_id, logloom_private.milliseconds_since(v_began))
  on conflict (tenant_id) do update set spent_ms = s.spent_ms + excluded.spent_ms;
  return v_fired;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.records_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_reads     text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_rows constant text := logloom_private.rows_sql(
    p_tenant_id, p_from, p_to, p_query.filter, p_reads
  );
begin
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return v_rows;
  end if;
  return 'from (select l.* ' || v_rows
    || ' union all select l.* from logloom_private.sealed_rows('
    || format(
      '%s, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree, p_query.filter, p_reads
    )
    || ') l) l where true';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scanned_tenant_sql (
  p_tenant text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  if not logloom_private.is_spread() then
    return p_tenant;
  end if;
  return format(
    'logloom_private.scanning(%s, %L)', p_tenant, current_setting('logloom.scan', true)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scanning (
  p_tenant_id text,
  p_scan      text
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
begin
  perform set_config('logloom.scan', p_scan, true);
  return p_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_counts (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_by        text[]                   DEFAULT ARRAY['service'::text,
  'level'::text]
)
  RETURNS TABLE (
    service text,
    level   text,
    events  bigint
  )
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_chunks bigint[] := array(
    select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_whole constant bigint[] := array(
    select c.chunk_id
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.chunk_id = any(v_chunks)
      and c.first_ts >= p_from and c.last_ts < p_to
  );
  v_sql constant text := logloom_private.mask_counts_sql(p_tree);
  v_counted bigint[] := '{}';
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
begin
  if v_sql is not null then
    v_counted := v_whole;
    return query execute v_sql
    using p_tenant_id, v_counted, current_setting('logloom.scan', true);
  elsif p_by = '{}' then
    v_counted := logloom_private.chunks_with_dictionary(p_tenant_id, v_whole, p_tree);
    if v_counted <> '{}' then
      events := logloom_private.dictionary_count(p_tenant_id, v_counted, p_tree);
      return next;
    end if;
  end if;
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id = any(v_chunks) and c.chunk_id <> all(v_counted)
    order by c.last_ts
  loop
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    return query
    select x.service, x.level, x.events
    from (
      select s.service, s.level, bit_count(substring(v_bits from s.first for s.records)) as events
      from (
        select u.*, (sum(u.records) over (order by u.n) - u.records + 1)::integer as first
        from unnest(v_chunk.section_services, v_chunk.section_levels, v_chunk.section_records)
          with ordinality u (service, level, records, n)
      ) s
    ) x
    where x.events > 0;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_counts_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  return 'select l.level, l.service, l.events from logloom_private.sealed_counts(' || format(
    '%s, %L, %L, %L, %L, %L',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree, p_query.filter,
    p_query.by_fields
  ) || ') l';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_numbers (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_key       text,
  p_exact     boolean,
  p_doubles   boolean
)
  RETURNS TABLE (
    service text,
    level   text,
    events  bigint,
    numbers numeric[],
    doubles double precision[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  SET jit TO 'off'
  AS $function$
declare
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_chunks constant bigint[] := array(
    select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_chunk logloom_private.sealed_chunks;
  v_column logloom_private.sealed_columns;
  v_bits varbit;
  v_positions integer[];
  v_numbers numeric[];
  v_doubles double precision[];
  v_before integer;
  v_starts integer[];
  v_events bigint[];
  v_are_whole boolean;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id = any(v_chunks)
    order by c.last_ts
  loop
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    v_numbers := null;
    v_doubles := null;
    v_before := 0;
    select k.* into v_column
    from logloom_private.sealed_columns k
    where k.tenant_id = p_tenant_id and k.chunk_id = v_chunk.chunk_id
      and k.name = 'attrs.' || p_key;
    if not found then
      -- A key without a column of its own may be among the others.
      v_numbers := array(
        select logloom_private.json_number(a.attrs -> p_key)
        from unnest(logloom_private.chunk_attributes(v_chunk, null, array[p_key]))
          with ordinality a (attrs, n)
        order by a.n
      );
    else
      v_before := v_column.first - 1;
      if p_exact or v_column.kind <> 'numbers' then
        v_numbers := logloom_private.column_numbers(v_column);
      elsif v_column.numbers is not null then
        v_doubles := v_column.numbers;
      else
        v_doubles := v_column.wide_numbers;
      end if;
    end if;
    if p_doubles and v_doubles is null then
      v_doubles := array(
        select logloom_private.finite_double(n.number)
        from unnest(v_numbers) with ordinality n (number, n)
        order by n.n
      );
    end if;
    select
      array_agg(u.first order by u.n),
      array_agg(bit_count(substring(v_bits from u.first for u.records)) order by u.n),
      bool_and(bit_count(substring(v_bits from u.first for u.records)) in (0, u.records))
    into v_starts, v_events, v_are_whole
    from (
      select r.*, (sum(r.records) over (order by r.n) - r.records + 1)::integer as first
      from unnest(v_chunk.section_records) with ordinality r (records, n)
    ) u;
    if not v_are_whole then
      v_positions := logloom_private.bit_positions(v_bits);
      v_numbers := case when p_exact then array(
        select v_numbers[p.position - v_before]
        from unnest(v_positions) with ordinality p (position, n)
        order by p.n
      ) end;
      v_doubles := case when p_doubles then array(
        select v_doubles[p.position - v_before]
        from unnest(v_positions) with ordinality p (position, n)
        order by p.n
      ) end;
      v_before := 0;
    end if;
    -- A section's records follow one another. "|| '{}'" makes one array of which each takes its
    -- part.
    return query
    select
      s.service, s.level, s.events,
      case when p_exact then a.numbers[s.first:s.first + s.events - 1] end,
      a.doubles[s.first:s.first + s.events - 1]
    from (
      select
        v_numbers || '{}'::numeric[] as numbers, v_doubles || '{}'::double precision[] as doubles
      offset 0
    ) a
    cross join (
      select
        u.service, u.level, u.events,
        case when v_are_whole then u.start
          else sum(u.events) over (order by u.n) - u.events + 1 end - v_before as first
      from unnest(
        v_chunk.section_services, v_chunk.section_levels, v_starts, v_events
      ) with ordinality u (service, level, start, events, n)
    ) s
    where s.events > 0;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_rows (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_reads     text
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_filter_fields constant text[] := logloom_private.fields_read(p_filter);
  v_filter_keys constant text[] := logloom_private.keys_read(p_filter);
  v_fields constant text[] := logloom_private.fields_read(p_reads);
  v_keys constant text[] := logloom_private.keys_read(p_reads);
  v_chunks constant bigint[] := array(
    select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id = any(v_chunks)
    order by c.last_ts
  loop
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_filter_fields, v_filter_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    return query
    select r.*
    from logloom_private.sealed_records(
      v_chunk,
      case when bit_count(v_bits) < v_chunk.records
        then logloom_private.bit_positions(v_bits) end,
      v_fields, v_keys
    ) r;
  end loop;
end;
$function$;

CREATE OR REPLACE PROCEDURE logloom_private.run_job (
  IN p_job text,
  IN p_step regprocedure
)
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant timestamptz := logloom_private.job_deadline(v_started_at);
  v_rest interval;
  v_answer text;
  v_error text;
begin
  loop
    begin
      -- The project's may have days of 23 hours, and dates that are read as another zone's.
      perform
        pg_catalog.set_config('timezone', 'UTC', true),
        pg_catalog.set_config('datestyle', 'ISO', true);
      execute pg_catalog.format('select %s::text', p_step) into v_answer;
      v_rest := case when v_answer <> '' then v_answer::interval end;
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      v_rest := null;
    end;
    commit;
    exit when v_rest is null or pg_catalog.clock_timestamp() + v_rest > v_deadline;
    perform pg_catalog.pg_sleep(extract(epoch from v_rest));
  end loop;
  perform logloom_private.record_job(p_job, v_started_at, v_error);
  commit;
end;
$procedure$;

COMMENT ON FUNCTION "logloom_private"."mask_counts_sql"(jsonb) IS 'SQL that counts what a tree finds in the chunks $2 of the tenant $1, by service and level, in the turns of the scan $3; null where masks do not decide the tree.';

COMMENT ON FUNCTION "logloom_private"."scanned_tenant_sql"(text) IS 'SQL: the tenant''s id, which p_tenant is SQL of, for a function that reads sealed records and takes turns meanwhile, wherever it runs.';

COMMENT ON FUNCTION "logloom_private"."scanning"(text, text) IS 'The tenant''s id. Lets take_turn(), where it is given no scan, take the turns of this one to the end of the transaction: on a node, which knows no setting of who asks.';

REVOKE ALL ON FUNCTION "logloom_private"."scanned_tenant_sql"(text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."scanning"(text, text) FROM PUBLIC;

select logloom_private.bring_to_nodes();
