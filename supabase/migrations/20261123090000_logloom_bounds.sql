-- Records, pages, blocks and bodies are bounded in bytes; notifications take turns; tokens of clients
-- read; names carry the prefix of their thing. What holds data comes first, functions after it.

-- Columns of logloom.logs are added below.
select logloom_private.hold_writers();

-- With an empty search_path a type of pg_temp comes before pg_catalog's own: every function names
-- both, pg_temp last.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid
    from pg_catalog.pg_proc p
    where (
        p.pronamespace = 'logloom_private'::regnamespace
        or p.pronamespace = 'public'::regnamespace
          and p.proname = any (logloom_private.operations())
      )
      and p.proconfig @> array['search_path=""']
  loop
    execute format('alter routine %s set search_path = pg_catalog, pg_temp', v_function);
  end loop;
end;
$$;

-- Names that a host's own functions may well have are given the prefix of their thing. Where
-- install-into wrote the migrations before, ours have the new names already.
do $$
declare
  v_operation record;
  v_taken text;
begin
  for v_operation in
    select p.oid::regprocedure as signature, r.name
    from (
      values
        ('add_member', 'add_tenant_member'),
        ('list_members', 'list_tenant_members'),
        ('remove_member', 'remove_tenant_member'),
        ('set_member_role', 'set_tenant_member_role'),
        ('claim_notifications', 'claim_alert_notifications'),
        ('settle_notification', 'settle_alert_notification'),
        ('list_notification_addresses', 'list_alert_addresses'),
        ('confirm_notification_address', 'confirm_alert_address'),
        ('get_usage', 'get_tenant_usage'),
        ('list_audit_events', 'list_tenant_audit_events'),
        ('rotate_webhook_secret', 'rotate_alert_webhook_secret'),
        ('list_retention_runs', 'list_log_retention_runs')
    ) r (former, name)
    join pg_catalog.pg_proc p
      on p.pronamespace = 'public'::regnamespace and p.proname = r.former
        and strpos(p.prosrc, 'logloom_private.') > 0
  loop
    select string_agg(p.oid::regprocedure::text, ', ') into v_taken
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname = v_operation.name;
    if v_taken is not null then
      raise exception using
        errcode = 'duplicate_function',
        message = 'Logloom cannot be upgraded, public has a function of its name: ' || v_taken,
        hint = 'Rename it or move it to another schema, then upgrade again.';
    end if;
    execute pg_catalog.format(
      'alter function %s rename to %I', v_operation.signature, v_operation.name
    );
  end loop;
end;
$$;

-- The function of that name is deployed with this version: what is due waits for it.
update logloom_private.notify_endpoint
set url = regexp_replace(url, '/notify$', '/logloom-notify')
where url like '%/notify';

-- Each record has its size with it, each chunk what reading it takes. Of those that are there
-- already it is measured when it is asked for, so nothing is written anew. The tables come in the
-- order in which requests and searches take them, settings first.
-- A forgotten transaction that has read them would keep everybody waiting: the migration fails
-- instead, longer after its beginning than any search takes.
do $$
begin
  perform set_config('lock_timeout', '30s', true);
  alter table logloom_private.settings
    add column max_record_bytes integer not null default 1048576,
    add constraint settings_max_record_bytes_is_within_bounds check (
      max_record_bytes between 65536 and 8388608
    ),
    add column max_record_values integer not null default 160000,
    add constraint settings_max_record_values_is_within_bounds check (
      max_record_values between 4096 and 8388608
    ),
    add column max_page_bytes integer not null default 7340032,
    add column notification_open_limit integer not null default 60,
    add constraint settings_notification_open_limit_is_positive check (
      notification_open_limit >= 1
    ),
    add column tenants_by_anonymous_users boolean not null default false,
    add column writing_clients text[] not null default '{}';
  alter table logloom_private.queue add column record_bytes integer[] compression lz4;
  alter table logloom.logs add column record_bytes integer;
  alter table logloom_private.sealed_chunks add column weight bigint;
  alter type logloom_private.ingest_request add attribute p_cut integer cascade;
  alter type logloom_private.ingest_state add attribute max_record_bytes integer cascade;
  alter type logloom_private.ingest_state add attribute max_record_values integer cascade;
  alter type public.logloom_audit_event add attribute client_id text cascade;
  alter table logloom.audit_events add column client_id text;
  perform set_config('lock_timeout', '0', true);
end;
$$;

-- Who has how many deliveries under way is counted at each claim.
do $$
begin
  perform set_config('lock_timeout', '30s', true);
  create index notifications_tenant_id_idx on logloom_private.notifications (tenant_id)
  where claim_id is not null;
  perform set_config('lock_timeout', '0', true);
end;
$$;

-- Rules of before ask what they ask since they were last changed: none misses a window.
do $$
begin
  alter table logloom.alert_rules add column asked_at timestamptz not null default now();
  update logloom.alert_rules set asked_at = updated_at where true;
end;
$$;

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."accepted_answer"(integer, integer, json);

DROP FUNCTION "logloom_private"."chunk_end"(text, date, integer);

DROP FUNCTION "logloom_private"."compare_chunk"(text, bigint, timestamp WITH time zone[], timestamp
  WITH time zone[], bigint[], uuid[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[]);

DROP FUNCTION "logloom_private"."copied_columns_sql"(text[]);

DROP FUNCTION "logloom_private"."due_notifications"();

DROP FUNCTION "logloom_private"."enqueue"(text, uuid, logloom_private.ingest_request);

DROP FUNCTION "logloom_private"."fill_masks"(text[], integer[], text, text);

DROP FUNCTION "logloom_private"."first_records_sql"(text, logloom_private.compiled_query, timestamp WITH time zone, timestamp WITH time zone, text, integer, text, timestamp
  WITH time zone, uuid, text, boolean);

DROP FUNCTION "logloom_private"."log_neighbours"(public.logloom_log_record, integer, text);

DROP FUNCTION "logloom_private"."log_page_sql"(text, logloom_private.compiled_query, tstzrange, integer, text, timestamp WITH time zone, uuid, boolean, boolean);

DROP FUNCTION "logloom_private"."log_tail_sql"(text, logloom_private.compiled_query, integer, bigint, uuid, bigint);

DROP FUNCTION "logloom_private"."provision_tenant"(text);

DROP FUNCTION "logloom_private"."rows_in_turn"(text, timestamp WITH time zone, timestamp WITH time zone, text, text, text, integer, boolean);

DROP FUNCTION "logloom_private"."rows_sql"(text, timestamp WITH time zone, timestamp WITH time zone, text, text, text, integer, boolean);

DROP FUNCTION "logloom_private"."sealed_arrivals"(text, bigint, bigint, jsonb, text);

DROP FUNCTION "logloom_private"."sealed_page"(text, timestamp WITH time zone, timestamp WITH time zone, jsonb, text, integer, text, timestamp WITH time zone, uuid, text);

DROP FUNCTION "logloom_private"."unconfirmed_address"();

DROP FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
  WITH time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb);

CREATE OR REPLACE FUNCTION logloom_private.abolish_tenant (
  p_tenant_id text
)
  RETURNS public.logloom_tenant_deletion
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role deletes tenants
declare
  v_tenant_id text;
  v_deletion logloom_private.tenant_deletions;
begin
  if logloom_private.is_service_role() then
    -- Asked again, it says how far it is.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    v_tenant_id := logloom_private.resolve_tenant_to_change(p_tenant_id);
    perform logloom_private.require_role(v_tenant_id, 'owner');
    perform logloom_private.lock_members(v_tenant_id);
    if not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id) then
      perform logloom_private.refuse('tenants.not_found');
    end if;
    insert into logloom_private.tenant_deletions (tenant_id, requested_by)
    values (v_tenant_id, logloom_private.actor())
    returning * into v_deletion;
    delete from logloom.api_keys k where k.tenant_id = v_tenant_id;
    delete from logloom.tenant_members m where m.tenant_id = v_tenant_id;
    delete from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.status = 'pending';
    update logloom.alert_rules r set enabled = false
    where r.tenant_id = v_tenant_id and r.enabled;
    perform logloom_private.request_erasure(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.accepted_answer (
  p_ingested integer,
  p_rejected integer,
  p_errors   json,
  p_cut      integer
)
  RETURNS json
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return json_strip_nulls(json_build_object(
    'success', p_ingested > 0 or p_rejected = 0,
    'ingested', p_ingested,
    'rejected', p_rejected,
    'cut', nullif(p_cut, 0),
    'errors', case when p_rejected > 0 then coalesce(p_errors, '[]') end
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.advance_log_tail (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_last      bigint,
  p_tail      logloom_private.log_tail
)
  RETURNS logloom_private.log_tail
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_turn constant interval := (select s.tail_turn from logloom_private.settings s);
  v_deadline timestamptz := clock_timestamp() + v_turn;
  v_steps bigint := 4;
  v_step_last bigint;
  v_left bigint;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_found public.logloom_log_record[];
  v_arrivals bigint[];
  v_has_moved boolean := false;
  v_records integer := 4;
  v_began_at timestamptz;
begin
  begin
    while p_tail.first <= p_last loop
      v_step_last := least(p_tail.first + v_steps - 1, p_last);
      v_left := p_limit + 1 - cardinality(p_tail.logs);
      for v_fits in 0..1 loop
        execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.arrival) from ('
          || logloom_private.log_tail_sql(
            p_tenant_id, p_query, v_left::integer, p_tail.first, p_tail.id, v_step_last,
            case v_fits when 0 then v_bytes * v_left / (p_limit + 1)
              else v_bytes - logloom_private.answered_bytes(p_tail.logs) end,
            v_fits = 1
          )
          || ') r'
        into v_found, v_arrivals;
        exit when array_position(v_found, null) is null;
      end loop;
      v_has_moved := true;
      if array_position(v_found, null) is not null then
        v_found := logloom_private.those_that_fit(v_found);
      end if;
      if cardinality(p_tail.logs) + cardinality(v_found) > p_limit then
        v_found := v_found[1:p_limit - cardinality(p_tail.logs)];
      end if;
      p_tail.logs := case when p_tail.logs = '{}' then v_found else p_tail.logs || v_found end;
      if cardinality(v_found) < cardinality(v_arrivals) then
        p_tail.more := true;
        -- After the last that this step found; where it was, if the page was full before.
        if cardinality(v_found) > 0 then
          p_tail.first := v_arrivals[cardinality(v_found)];
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
  v_deadline := clock_timestamp() + v_turn;
  while not v_has_moved or (clock_timestamp() < v_deadline and cardinality(p_tail.logs) = 0) loop
    v_began_at := clock_timestamp();
    p_tail := logloom_private.examine_log_tail(
      p_tenant_id, p_query, least(v_records, p_limit), p_last, p_tail
    );
    v_has_moved := true;
    exit when not p_tail.more;
    -- Nothing ends the next piece: it must be sure to end in time by itself.
    if clock_timestamp() - v_began_at < v_turn / 8 then
      v_records := least(v_records * 2, p_limit);
    end if;
  end loop;
  return p_tail;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.age_reason (
  p_age   interval,
  p_limit interval
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case when p_age > p_limit then format(
    'The oldest queued event is %s s old (limit %s s)', round(extract(epoch from p_age)),
    round(extract(epoch from p_limit), 3)::double precision
  ) end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_health (
  p_now       timestamp with time zone,
  p_watermark timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_window_end timestamptz;
  v_has_rules constant boolean := exists (select from logloom.alert_rules r where r.enabled);
  v_waits boolean;
  v_reason text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select r.window_end into v_window_end from logloom_private.alert_rounds r
  where r.finished_at is not null;
  v_waits := v_has_rules
    and coalesce(p_now - p_watermark, 'infinity') > v_settings.alert_watermark_limit;
  if v_waits then
    v_reason := 'Rules wait until all that was acknowledged is visible';
  elsif v_has_rules and v_window_end is not null
    and logloom_private.silence_since(v_window_end, p_now) > v_settings.alert_round_limit
  then
    v_reason := logloom_private.silence_reason(
      'No round of the alert rules', logloom_private.silence_since(v_window_end, p_now),
      v_settings.alert_round_limit
    );
  end if;
  return logloom_private.health_grade(null, v_reason) || jsonb_build_object(
    'waiting', v_waits,
    'watermark_age_seconds', round(extract(epoch from p_now - p_watermark), 3),
    'evaluated_until', v_window_end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alerts_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('alerts.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to is not.', null),
    ('alerts.alert_rules_name_is_valid', 400, 'Invalid p_name: 1 to 200 characters after trimming',
      'Name the rule after what it watches.', null),
    ('alerts.alert_rules_description_is_valid', 400,
      'Invalid p_description: at most 2000 characters', 'Shorten it.', null),
    ('alerts.alert_rules_threshold_is_finite', 400, 'Invalid p_threshold: a finite number',
      'Send a JSON number.', null),
    ('alerts.alert_rules_comparison_is_known', 400,
      'Invalid p_comparison: one of gt, gte, lt, lte, eq, neq',
      'The value of the query stands at the left: gt fires when it is above p_threshold.', null),
    ('alerts.alert_rules_window_is_valid', 400, 'Invalid p_window_minutes: 1 to 1440',
      'A day is the longest window.', null),
    ('alerts.alert_rules_cooldown_is_valid', 400, 'Invalid p_cooldown_minutes: 0 to 10080',
      'Seven days is the longest cooldown.', null),
    ('alerts.alert_rules_destinations_are_known', 400,
      'Invalid p_notification_destinations: any of email, webhook',
      'Send a flat array of these texts.', null),
    ('alerts.alert_rules_config_is_object', 400,
      'Invalid p_notification_config: an object of at most 8192 bytes',
      'Send a JSON object with email and webhook_url.', null),
    ('alerts.alert_rules_email_is_valid', 400,
      'Invalid p_notification_config: email is no email address',
      'Send one address, without a name or angle brackets.', null),
    ('alerts.alert_rules_webhook_url_is_valid', 400,
      'Invalid p_notification_config: webhook_url is no https URL',
      'Send an https URL without user name and password.', null),
    ('alerts.alert_rules_destinations_have_addresses', 400,
      'Invalid p_notification_config: an enabled rule needs the address of each destination',
      'Send email for the destination email, webhook_url for webhook, or disable the rule.', null),
    ('alerts.rule_not_found', 404, 'Alert rule not found',
      'list_alert_rules shows the rules of this tenant.', null),
    ('alerts.alert_not_found', 404, 'Alert not found', 'Send an alert_id of list_alert_history.',
      null),
    ('alerts.query_gives_no_number', 400,
      'Invalid p_query_dsl: an alert rule compares one number, so it takes one aggregate',
      'Leave the other stages out; the filter may stand before the bar.', null),
    ('alerts.preview_names_now', 400, 'A query that names now has no preview',
      'Leave ts out: the window says which time is meant.',
      '`preview_alert_rule`: `now` differs from window to window.'),
    ('alerts.preview_took_too_long', 408, 'The preview took too long',
      'Narrow the query, by service or level say.',
      '`preview_alert_rule`: 15 seconds. Narrow the query.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.answered_bytes (
  p_logs public.logloom_log_record[]
)
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return coalesce(
    (
      select sum(octet_length(to_json(l)::text))
      from (select unnest(p_logs) as l) l
    ),
    0
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.any_bits (
  p_chunk logloom_private.sealed_chunks,
  p_leaf  jsonb
)
  RETURNS bit varying[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_test constant text[] := logloom_private.query_text_test(p_leaf);
  -- Of an attribute that is no scalar, as of a record that has it alone.
  v_attribute_test constant text := format(
    'case when left(l.value, 1) in (''{'', ''['') then %s else %s(l.attrs #>> ''{}'')%s end',
    logloom_private.query_sql(p_leaf, 'l'), v_test[1], v_test[2]
  );
  v_no_fields constant text := (
    select string_agg('null::text as ' || f, ', ')
    from unnest(logloom_private.query_text_columns()) f
  );
  v_column logloom_private.sealed_columns;
  v_values text[];
  v_flags boolean[];
  v_bits text;
  v_found varbit;
  v_result varbit[];
begin
  v_result := logloom_private.message_bits(p_chunk, p_leaf || '{"field": "msg", "name": "msg"}');
  execute 'select array_agg((' || v_test[1] || 'l.service' || v_test[2] || ' or '
    || v_test[1] || 'l.level' || v_test[2] || ') is true order by l.n) '
    || 'from unnest($1, $2) with ordinality l (service, level, n)'
  into v_flags
  using p_chunk.section_services, p_chunk.section_levels;
  v_found := logloom_private.run_bits(v_flags, p_chunk.section_records);
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and c.name <> 'record_bytes'
  loop
    v_values := case v_column.kind when 'dictionary' then v_column.dictionary
      else logloom_private.column_texts(v_column, null) end;
    execute 'select string_agg(case when ('
      || case when left(v_column.name, 5) = 'attrs' then v_attribute_test
        else v_test[1] || 'l.value' || v_test[2] end
      || ') is true then ''1'' else ''0'' end, '''' order by l.n) from (select '
      || case when left(v_column.name, 5) = 'attrs'
        then v_no_fields || ', v.value::jsonb as attrs, ' else '' end
      || 'v.value, v.n from unnest($1) with ordinality v (value, n)) l'
    into v_bits
    using v_values;
    continue when strpos(v_bits, '1') = 0;
    if v_column.kind = 'dictionary' and v_column.codes is null and v_column.wide_codes is null then
      v_bits := repeat(v_bits, v_column.last - v_column.first + 1);
    elsif v_column.kind = 'dictionary' then
      v_values := string_to_array(v_bits, null);
      select string_agg(
        coalesce(v_values[coalesce(c.code::integer + 129, c.wide_code)], '0'), '' order by c.n
      )
      into v_bits
      from unnest(v_column.codes, v_column.wide_codes) with ordinality c (code, wide_code, n);
    end if;
    v_found := v_found
      | logloom_private.widen_bits(v_bits, v_column.first, p_chunk.records, false);
  end loop;
  return array[v_result[1] | v_found, v_result[2] | v_found];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.attribute_texts (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_keys      text[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_chunk.records);
  v_column logloom_private.sealed_columns;
  v_values logloom_private.column_values[] := '{}';
  v_bounds integer[] := array[1, v_records + 1];
  v_from integer[] := '{}';
  v_to integer[] := '{}';
  v_names text[] := '{}';
  v_within integer[];
  v_lower integer;
  v_upper integer;
  v_rest boolean;
  v_rest_is_empty boolean := false;
  v_arrays text;
  v_names_sql text;
  v_sql text;
  v_part text[];
  v_texts text[] := '{}';
begin
  -- The columns, and which of the wanted records each covers.
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and (
        c.name = 'attrs'
        or left(c.name, 6) = 'attrs.' and (p_keys is null or substr(c.name, 7) = any(p_keys))
      )
    -- As jsonb has its keys: a whole record's text is that which jsonb has.
    order by octet_length(c.name), c.name collate "C"
  loop
    v_lower := v_column.first;
    v_upper := v_column.last;
    v_within := null;
    if p_positions is not null then
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
      v_within := p_positions[v_lower:v_upper];
    end if;
    continue when v_lower > v_upper;
    v_from := v_from || v_lower;
    v_to := v_to || v_upper;
    v_names := v_names || v_column.name;
    v_rest_is_empty := v_rest_is_empty or (
      v_column.name = 'attrs' and v_column.codes is null and v_column.wide_codes is null
      and v_column.dictionary = array['{}']
    );
    v_bounds := v_bounds || v_lower || (v_upper + 1);
    v_values := v_values || row(
      logloom_private.column_texts(v_column, v_within)
    )::logloom_private.column_values;
  end loop;

  -- A statement made for these columns has to be planned, which takes as long as many records.
  if v_records <= 400 then
    return array(
      select
        case
          when bool_or(p.is_rest)
            then '{' || coalesce(string_agg(p.text, ', '), '') || '}'
        end
      from generate_series(1, v_records) r (n)
      left join (
        select
          c.key is null as is_rest, c.first + t.n - 1 as n,
          case when c.key is null then nullif(substr(t.text, 2, length(t.text) - 2), '')
            else c.key || t.text end as text
        from (
          select
            v.texts, v_from[v.n] as first,
            case when v_names[v.n] <> 'attrs'
              then to_json(substr(v_names[v.n], 7)) || ': ' end as key
          from unnest(v_values) with ordinality v (texts, n)
          offset 0
        ) c
        cross join lateral unnest(c.texts) with ordinality t (text, n)
        where t.text is not null
      ) p on p.n = r.n
      group by r.n
      order by r.n
    );
  end if;

  -- Between two bounds the same columns cover all records.
  v_bounds := array(select distinct b from unnest(v_bounds) b order by b);
  for v_at in 1..cardinality(v_bounds) - 1 loop
    v_lower := v_bounds[v_at];
    v_upper := v_bounds[v_at + 1] - 1;
    v_rest := false;
    v_arrays := '';
    v_names_sql := '';
    v_sql := '';
    for v_name in 1..cardinality(v_names) loop
      continue when v_from[v_name] > v_lower or v_to[v_name] < v_upper;
      v_arrays := v_arrays || format(
        ', unnest((($1)[%1$s]).texts[%2$s:%3$s]) as c%1$s',
        v_name, v_lower - v_from[v_name] + 1, v_upper - v_from[v_name] + 1
      );
      v_names_sql := v_names_sql || ', c' || v_name;
      if v_names[v_name] = 'attrs' then
        v_rest := true;
        v_sql := v_sql || format(', nullif(substr(c%1$s, 2, length(c%1$s) - 2), '''')', v_name);
      else
        v_sql := v_sql || format(
          ', %L || c%s', to_json(substr(v_names[v_name], 7)) || ': ', v_name
        );
      end if;
    end loop;
    if not v_rest then
      -- No record of these has attributes.
      v_part := array_fill(null::text, array[v_upper - v_lower + 1]);
    elsif v_rest_is_empty and v_names_sql = ', c' || array_position(v_names, 'attrs') then
      -- All have the same, which is nothing.
      v_part := array_fill('{}'::text, array[v_upper - v_lower + 1]);
    else
      execute format(
        $query$
          select array(
            select
              case when u.c%s is not null then '{' || concat_ws(', ' %s) || '}' end
            from (select %s) u
          )
        $query$,
        array_position(v_names, 'attrs'), v_sql, substr(v_arrays, 3)
      )
      into v_part
      using v_values;
    end if;
    v_texts := v_texts || v_part;
  end loop;
  return v_texts;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.audience_is_valid (
  p_aud      jsonb,
  p_audience text
)
  RETURNS boolean
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_aud is null then
    return p_audience is null;
  end if;
  if jsonb_typeof(p_aud) <> 'array' then
    return logloom_private.is_string_or_uri(p_aud)
      and (p_audience is null or p_aud = to_jsonb(p_audience));
  end if;
  return p_aud <> '[]'
    and (p_audience is null or p_aud ? p_audience)
    and (
      select bool_and(logloom_private.is_string_or_uri(a.value)) from jsonb_array_elements(p_aud) a
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.authenticate_sender (
  p_tenant_id  text,
  p_key_digest text,
  p_claims     jsonb,
  OUT          tenant_id text,
  OUT          key_id uuid
)
  RETURNS record
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_key_digest is not null then
    select o.tenant_id, o.key_id
    into authenticate_sender.tenant_id, authenticate_sender.key_id
    from logloom_private.authenticate_api_key(p_key_digest) o;
    return;
  end if;
  authenticate_sender.tenant_id := case
    when p_claims is not null then logloom_private.tenant_of_token(p_claims)
    when not logloom_private.is_being_deleted(p_tenant_id)
      then logloom_private.usable_tenant_id(p_tenant_id)
  end;
  if authenticate_sender.tenant_id is null then
    perform logloom_private.refuse('callers.not_known');
  end if;
  perform logloom_private.require_writing_client(p_claims);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.bare_record_bytes (
  p_tenant_id   text,
  p_received_at timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return octet_length(
    '{"id":"00000000-0000-0000-0000-000000000000","tenant_id":,"ts":,"received_at":,"level":,'
      || '"msg":,"service":,"env":,"req_id":,"user_id":,"route":,"host":,"attrs":}'
  ) + octet_length(to_json(p_tenant_id)::text) + octet_length(to_json(p_received_at)::text);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.begin_alert_round (
  p_now       timestamp with time zone,
  p_watermark timestamp with time zone
)
  RETURNS logloom_private.alert_rounds
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
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
    update logloom.alert_rules r
    set
      last_evaluated_at = case when r.last_evaluated_at <= p_now then r.last_evaluated_at end,
      asked_at = least(r.asked_at, p_now)
    where r.last_evaluated_at > p_now or r.asked_at > p_now;
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

CREATE OR REPLACE FUNCTION logloom_private.bytes_of_record (
  p_log logloom.logs
)
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- An array of the texts has nine letters of its own.
  return coalesce(
    p_log.record_bytes,
    logloom_private.bare_record_bytes(p_log.tenant_id, p_log.received_at)
      + octet_length(to_json(p_log.ts)::text)
      + octet_length(
        array_to_json(array[
          p_log.level, p_log.msg, p_log.service, p_log.env, p_log.req_id, p_log.user_id,
          p_log.route, p_log.host
        ])::text
      ) - 9
      + coalesce(octet_length(p_log.attrs::text), 4)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.callers_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('callers.authorization_is_missing', 400, 'Missing authorization header',
      'Send Authorization: Bearer <access token>.', 'There is no `Authorization` header.'),
    ('callers.not_known', 401, 'Invalid token, API key, or missing tenant_id', null,
      'The token cannot be used, or the API key is unknown, revoked or expired.'),
    ('callers.not_signed_in', 401, 'Invalid token, API key, or missing tenant_id',
      'Sign in: the token needs role authenticated and a top-level tenant_id claim.',
      'The token is for `anon`, or has no usable `tenant_id`.'),
    ('callers.tenant_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs a top-level tenant_id claim that is a non-blank string.', null),
    ('callers.user_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs the claim sub, which names the user.', null),
    ('callers.tenant_is_another', 403, 'p_tenant_id is not the tenant of the token',
      'Leave p_tenant_id out: the tenant is taken from the token.',
      'A user names another tenant. Leave `p_tenant_id` out.'),
    ('callers.operation_is_internal', 403, '%s is for service_role alone',
      'Logloom''s functions call it with the project''s secret key.',
      'A signed-in user calls what the edge functions alone may call.'),
    ('callers.client_may_only_read', 403, 'The client that this token was issued to may only read',
      'Whoever runs the project lists its client_id in logloom_private.settings.writing_clients.',
      'The token was issued to an OAuth client (claim `client_id`) that is not listed '
        '([identity.md](identity.md#oauth-clients)).'),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST with a JSON object of parameters.',
      'An operation is called by another method than `POST`.'),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: name one where the operation takes p_tenant_id.',
      '`service_role` belongs to no tenant and must name one; it cannot call operations without '
        '`p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, '`service_role` names what cannot be a tenant.'),
    ('callers.role_is_missing', 403, 'This takes the role %s',
      'Ask an owner of the tenant; list_tenant_members says who that is.',
      'The caller is less than that in the tenant: `member`, `admin`, `owner` '
        '([identity.md](identity.md)).')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canonical_numbers (
  p_value jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case jsonb_typeof(p_value)
    when 'number' then logloom_private.short_number(p_value::numeric)
    when 'object' then (
      select coalesce(jsonb_object_agg(o.key, logloom_private.canonical_numbers(o.value)), '{}')
      from jsonb_each(p_value) o
    )
    when 'array' then (
      select coalesce(jsonb_agg(logloom_private.canonical_numbers(a.value) order by a.n), '[]')
      from jsonb_array_elements(p_value) with ordinality a (value, n)
    )
    else p_value
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.carry_to_nodes()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_types text[];
  v_function regprocedure;
begin
  -- Types go to the nodes with a function that needs them; this one goes again, they stay.
  v_types := array(
    select format('%I.%I', n.nspname, t.typname)
    from pg_catalog.pg_type t
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    left join pg_catalog.pg_class c on c.oid = t.typrelid
    where (n.nspname = 'logloom_private' or n.nspname = 'public' and t.typname like 'logloom\_%')
      and (c.relkind = 'c' or t.typtype in ('d', 'e'))
      and not exists (
        select
        from pg_catalog.pg_attribute a
        join pg_catalog.pg_type u on u.oid = a.atttypid
        left join pg_catalog.pg_type e on e.oid = u.typelem
        join pg_catalog.pg_class l on l.oid in (u.typrelid, e.typrelid)
        where a.attrelid = t.typrelid and l.relkind in ('r', 'p')
      )
    order by t.oid
  );
  execute format(
    'create function logloom_private.carried_types() returns table (%s) language plpgsql '
      || 'set search_path = pg_catalog, pg_temp as ''begin end''',
    (
      select string_agg(format('t%s %s', w.n, w.name), ', ' order by w.n)
      from unnest(v_types) with ordinality w (name, n)
    )
  );
  execute format(
    'select create_distributed_function(%L)', to_regprocedure('logloom_private.carried_types()')
  );
  execute 'drop function logloom_private.carried_types()';

  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prokind in ('f', 'a')
      and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
      and not p.prosecdef
      and not exists (
        select
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('logloom', 'logloom_private', 'public')
          and c.relkind in ('r', 'p', 'v', 'S')
          and not c.relispartition
          and format('%s.%s', n.nspname, c.relname) <> all (logloom_private.spread_tables())
          and concat_ws(
            ' ', p.prosrc, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
          ) ~ format('\m%s\.%s\M', n.nspname, c.relname)
      )
      -- Nor takes or gives a type that holds such a table's row, which is none of those above.
      and not exists (
        select
        from unnest(p.proargtypes::oid[] || p.proallargtypes || p.prorettype) o (oid)
        join pg_catalog.pg_type t on t.oid = o.oid
        join pg_catalog.pg_class c on c.oid = t.typrelid and c.relkind = 'c'
        where format('%I.%I', t.typnamespace::regnamespace, t.typname) <> all (v_types)
          and t.typnamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
      )
  loop
    execute format('select create_distributed_function(%L::regprocedure)', v_function::text);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.change_member_role (
  p_tenant_id text,
  p_user_id   text,
  p_role      text
)
  RETURNS public.logloom_member
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_member logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_member_role(p_role);
  perform logloom_private.lock_members(v_tenant_id);
  select m.* into v_member
  from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  if not found then
    perform logloom_private.refuse('tenants.member_not_found');
  end if;
  if p_role <> 'owner' and v_member.role = 'owner' then
    perform logloom_private.require_other_owner(v_tenant_id, p_user_id);
  end if;
  update logloom.tenant_members m set role = p_role
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id
  returning m.* into v_member;
  return logloom_private.member_of(v_member);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_operation (
  p_search_path text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_headers constant json := nullif(current_setting('request.headers', true), '')::json;
  v_method constant text := current_setting('request.method', true);
  v_operation constant text := logloom_private.requested_operation(
    current_setting('request.path', true), p_search_path
  );
  v_claims jsonb;
  v_is_known boolean := false;
begin
  if v_operation is null then
    return;
  end if;
  if v_headers ->> 'authorization' is null then
    perform logloom_private.refuse('callers.authorization_is_missing');
  end if;
  if current_user in ('authenticated', 'service_role') then
    v_claims := coalesce(
      logloom_private.sent_claims(v_headers ->> 'authorization'), logloom_private.claims()
    );
    v_is_known := case
      when current_user = 'service_role' then logloom_private.service_token_is_valid(v_claims)
      when not logloom_private.token_is_valid(v_claims) then false
      -- The one operation for users who have no tenant yet.
      when v_operation = 'create_tenant' then true
      else logloom_private.current_tenant_id() is not null
    end;
  end if;
  if v_is_known is not true then
    perform logloom_private.refuse('callers.not_signed_in');
  end if;
  -- Not left to EXECUTE: with supautils 3.2.0 and 3.2.1 the error of a missing one ends the server.
  if current_user = 'authenticated'
    and v_operation = any (logloom_private.service_operations())
  then
    perform logloom_private.refuse('callers.operation_is_internal', v_operation);
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

CREATE OR REPLACE FUNCTION logloom_private.check_query (
  p_query_dsl text,
  p_is_alert  boolean DEFAULT false
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role calls the compiler's parts
declare
  v_query logloom_private.compiled_query;
begin
  if octet_length(p_query_dsl) > (select s.quick_query_bytes from logloom_private.settings s) then
    perform logloom_private.take_validation_slot(
      coalesce(logloom_private.current_tenant_id(), '')
    );
  end if;
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.blank then
    perform logloom_private.refuse('saved_searches.query_is_blank');
  end if;
  if not p_is_alert then
    return;
  elsif v_query.plan ? 'first' and (
    (v_query.plan -> 'count')::integer > 1
    or v_query.plan ? 'bucket'
    or jsonb_array_length(v_query.plan -> 'aggregates') is distinct from 1
  ) then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'alerts.query_gives_no_number'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_request()
  RETURNS void
  LANGUAGE plpgsql
  AS $function$
declare
  -- The project's own may set another.
  v_search_path constant pg_catalog.text := pg_catalog.current_setting('search_path');
begin
  perform logloom_private.call_host_pre_request();
  perform logloom_private.check_operation(v_search_path);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_attributes (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_keys      text[]
)
  RETURNS jsonb[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_texts text[] := logloom_private.attribute_texts(p_chunk, p_positions, p_keys);
begin
  -- A cast of the array keeps what reading each text takes, until all of them are read.
  return array(select unnest(v_texts)::jsonb);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_end (
  p_tenant_id text,
  p_day       date,
  p_share     integer,
  p_at_least  integer
)
  RETURNS logloom_private.log_key
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_read text;
  v_records integer;
  v_bytes bigint;
  v_ts timestamptz[];
  v_ids uuid[];
  v_end logloom_private.log_key;
begin
  select s.* into v_settings from logloom_private.settings s;
  v_read := format(
    $query$
      select r.ts, r.id, r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint as bytes
      from (
        select
          l.ts, l.id,
          greatest(
            %s,
            200 + coalesce(octet_length(l.msg), 0)
              -- What is compressed is measured as it is unpacked.
              + coalesce(
                case when pg_column_compression(l.attrs) is null then pg_column_size(l.attrs)
                  else pg_column_size(l.attrs #> '{}') end,
                0
              )
          ) as bytes
        from logloom.logs l
        where l.tenant_id = %L and l.ts >= %L::timestamptz and l.ts < %L::timestamptz
        order by l.ts, l.id
        limit %s
      ) r
    $query$,
    logloom_private.record_size_sql(), p_tenant_id, v_from, v_to,
    greatest(v_settings.seal_chunk_records / p_share, 1)
  );
  execute format(
    'select count(*), sum(w.bytes), array_agg(w.ts), array_agg(w.id) from (%s) w', v_read
  )
  into v_records, v_bytes, v_ts, v_ids;
  -- Few are as large as that: their sums are made only then.
  if v_bytes > v_settings.seal_chunk_bytes / p_share then
    execute format(
      'select greatest(count(*) filter (where r.total <= %s), %s) '
        || 'from (select sum(w.bytes) over (order by w.ts, w.id) as total from (%s) w) r',
      v_settings.seal_chunk_bytes / p_share, p_at_least, v_read
    )
    into v_records;
  end if;
  v_end.ts := v_ts[v_records];
  v_end.id := v_ids[v_records];
  return v_end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_messages (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  SET work_mem TO '32MB'
  AS $function$
declare
  -- "|| ''" reads what is stored once, not at each use.
  v_digits bytea := p_chunk.digits || ''::bytea;
  v_separator constant text := p_chunk.separator;
  v_masks text[];
  v_texts text[];
  v_counts integer[] := p_chunk.mask_records;
  v_mark_records integer[] := p_chunk.mark_records;
  v_mark_digits integer[] := p_chunk.mark_digits;
  v_mark_bytes integer[] := p_chunk.mark_bytes;
  v_bytes bytea;
  v_found integer[];
  v_ordinals integer[];
  v_ordinal integer;
  v_next_ordinal integer;
  v_mark integer;
  v_mask integer;
  v_count integer;
  v_digits_each integer;
  v_last integer;
  v_last_digit integer;
  v_found_masks text[] := '{}';
  v_lengths integer[] := '{}';
  v_places integer[] := '{}';
begin
  -- Reading a message by its place takes several times as long as reading it in passing.
  if cardinality(p_positions) > p_chunk.records / 4 then
    v_texts := logloom_private.chunk_messages(p_chunk, null);
    return logloom_private.texts_at(v_texts, p_positions);
  elsif p_positions is null then
    -- A section's masks end each with the separator; a section without messages has none.
    v_masks := string_to_array(array_to_string(p_chunk.masks, ''), v_separator);
    v_masks := v_masks[:cardinality(v_masks) - 1];
    v_texts := logloom_private.fill_masks(
      v_masks, p_chunk.mask_records, v_digits, v_separator
    );
    if array_position(p_chunk.section_masks, 0) is null then
      return v_texts;
    end if;
    -- Sections without messages stand between the others.
    return array(
      select case when s.masks > 0 then v_texts[s.before + i] end
      from (
        select
          x.n, x.records, x.masks,
          sum(case when x.masks > 0 then x.records else 0 end) over (order by x.n)
            - case when x.masks > 0 then x.records else 0 end as before
        from unnest(p_chunk.section_records, p_chunk.section_masks)
          with ordinality x (records, masks, n)
      ) s, generate_series(1, s.records) i
      order by s.n, i
    );
  end if;

  -- Those that have a message, and which of the chunk's messages it is.
  with s as (
    select
      array_agg(x.first order by x.n) as firsts, array_agg(x.silent order by x.n) as silent,
      array_agg(x.masks > 0 order by x.n) as speaks
    from (
      select
        u.n, u.masks, (sum(u.records) over w - u.records + 1)::integer as first,
        coalesce(sum(u.records) filter (where u.masks = 0) over w, 0)::integer as silent
      from unnest(p_chunk.section_records, p_chunk.section_masks)
        with ordinality u (records, masks, n)
      window w as (order by u.n)
    ) x
  ), p as (
    select u.position, width_bucket(u.position, s.firsts) as section
    from s, unnest(p_positions) u (position)
  )
  select
    array_agg(p.position order by p.position),
    array_agg(p.position - s.silent[p.section] order by p.position)
  into v_found, v_ordinals
  from p, s
  where s.speaks[p.section];
  if v_found is null then
    return array_fill(null::text, array[cardinality(p_positions)]);
  end if;
  v_bytes := convert_to(array_to_string(p_chunk.masks, ''), 'UTF8');
  -- From mark to mark, and from there to the mask that holds the message.
  foreach v_ordinal in array v_ordinals loop
    if v_next_ordinal is null or v_ordinal >= v_next_ordinal then
      v_mark := width_bucket(v_ordinal - 1, v_mark_records);
      v_next_ordinal := coalesce(v_mark_records[v_mark + 1], p_chunk.records) + 1;
      v_mask := 0;
      v_last := v_mark_records[v_mark];
      v_last_digit := v_mark_digits[v_mark];
      v_masks := string_to_array(
        convert_from(
          substring(
            v_bytes from v_mark_bytes[v_mark] + 1
            for coalesce(v_mark_bytes[v_mark + 1], octet_length(v_bytes)) - v_mark_bytes[v_mark]
          ),
          'UTF8'
        ),
        v_separator
      );
    end if;
    while v_last < v_ordinal loop
      v_mask := v_mask + 1;
      v_count := v_counts[16 * (v_mark - 1) + v_mask];
      v_digits_each := octet_length(v_masks[v_mask])
        - octet_length(replace(v_masks[v_mask], '0', ''));
      v_last := v_last + v_count;
      v_last_digit := v_last_digit + v_count * v_digits_each;
    end loop;
    v_found_masks := v_found_masks || v_masks[v_mask];
    v_lengths := v_lengths || v_digits_each;
    v_places := v_places || v_last_digit - (v_last - v_ordinal + 1) * v_digits_each;
  end loop;
  v_texts := array(
    select
      case
        when f.length = 0 then f.mask
        when f.length > 1000 then logloom_private.fill_mask(f.mask, v_digits, f.place)
        else format(
          replace(replace(f.mask, '%', '%%'), '0', '%s'),
          variadic string_to_array(
            substr(
              encode(substring(v_digits from f.place / 2 + 1 for f.length / 2 + 1), 'hex'),
              1 + f.place % 2, f.length
            ),
            null
          )
        )
      end
    from unnest(v_found_masks, v_lengths, v_places) with ordinality f (mask, length, place, n)
    order by f.n
  );
  if cardinality(v_found) = cardinality(p_positions) then
    return v_texts;
  end if;
  -- Those without a message stand between the others.
  return array(
    select v_texts[array_position(v_found, p.position)]
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_sizes (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[]
)
  RETURNS integer[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_column logloom_private.sealed_columns;
  v_lower integer;
  v_upper integer;
begin
  select c.* into v_column
  from logloom_private.sealed_columns c
  where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
    and c.name = 'record_bytes';
  if not found then
    return array_fill(0, array[cardinality(p_positions)]);
  end if;
  v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
  v_upper := width_bucket(v_column.last, p_positions);
  return array_fill(0, array[v_lower - 1])
    || logloom_private.column_texts(v_column, p_positions[v_lower:v_upper])::integer[]
    || array_fill(0, array[cardinality(p_positions) - v_upper]);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunks_to_merge (
  p_tenant_id text,
  p_day       date
)
  RETURNS bigint[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_week constant timestamptz := date_trunc('week', p_day::timestamp) at time zone 'UTC';
  v_chunk_ids bigint[];
begin
  select s.* into v_settings from logloom_private.settings s;
  select array_agg(m.chunk_id order by m.chunk_id) into v_chunk_ids
  from (
    select
      c.chunk_id, c.key,
      sum(c.records) over (partition by c.key order by c.first_ts, c.chunk_id) as records,
      sum(coalesce(c.weight, 8 * c.bytes)) over (
        partition by c.key order by c.first_ts, c.chunk_id
      ) as weight
    from (
      select
        w.*,
        -- A day's worth goes with its day, and not on disk until a week is past retention.
        case
          when w.records < v_settings.seal_day_records
            or logloom_private.utc_day(w.first_ts) < logloom_private.utc_day(w.last_ts)
            then '-infinity'
          else logloom_private.utc_day(w.first_ts)
        end as key
      from logloom_private.sealed_chunks w
      where w.tenant_id = p_tenant_id
        and w.first_ts >= v_week
        and w.last_ts < v_week + interval '168 hours'
        and w.records <= v_settings.seal_chunk_records / 2
    ) c
  ) m
  where m.records <= v_settings.seal_chunk_records
    and m.weight <= v_settings.seal_chunk_bytes
  group by m.key
  having count(*) > 1
  limit 1;
  return v_chunk_ids;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_due_notifications (
  p_limit integer
)
  RETURNS SETOF public.logloom_claimed_notification
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the outbox or a webhook's secret
declare
  v_ids uuid[];
  v_notification logloom_private.notifications;
  v_refusal text;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('notifications'), 0);
  loop
    v_ids := logloom_private.next_notifications(p_limit);
    v_ids := array(
      select n.notification_id
      from logloom_private.notifications n
      -- Again, on the row as it is once locked: it may have been settled meanwhile.
      where n.notification_id = any(v_ids)
        and n.status = 'pending' and n.next_attempt_at <= now()
      for update of n skip locked
    );
    exit when cardinality(v_ids) = 0;
    for v_notification in
      select n.*
      from logloom_private.notifications n
      where n.notification_id = any(v_ids) and n.channel = 'email'
    loop
      v_refusal := logloom_private.email_refusal(v_notification);
      if v_refusal is not null then
        perform logloom_private.end_notification(v_notification, 'failed', null, v_refusal);
        v_ids := array_remove(v_ids, v_notification.notification_id);
      elsif v_notification.purpose = 'confirmation' and v_notification.attempts = 0 then
        insert into logloom_private.confirmation_mails (mailbox_digest)
        values (logloom_private.mailbox_digest(v_notification.address));
      end if;
    end loop;
    exit when cardinality(v_ids) > 0;
  end loop;
  perform logloom_private.postpone_notifications();

  insert into logloom_private.notification_usage as u (tenant_id, channel, hour, attempts)
  select n.tenant_id, n.channel, date_trunc('hour', now()), count(*)
  from logloom_private.notifications n
  where n.notification_id = any(v_ids)
  group by n.tenant_id, n.channel
  on conflict (tenant_id, channel, hour) do update
  set attempts = u.attempts + excluded.attempts;
  for v_notification in
    update logloom_private.notifications n
    set claim_id = gen_random_uuid(),
      attempts = n.attempts + 1,
      last_attempt_at = now(),
      next_attempt_at = now() + s.notification_claim_lifetime
    from logloom_private.settings s
    where n.notification_id = any(v_ids)
    returning n.*
  loop
    return query
    select
      v_notification.notification_id, v_notification.claim_id, v_notification.channel,
      v_notification.address,
      case v_notification.purpose
        when 'confirmation' then logloom_private.mail_code(v_notification)
        else v_notification.body
      end,
      array_remove(
        array[w.secret, case when w.previous_valid_until > now() then w.previous_secret end], null
      )
    from (select) one
    left join logloom_private.webhook_secrets w
      on w.rule_id = v_notification.rule_id and v_notification.channel = 'webhook';
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compare_chunk (
  p_tenant_id    text,
  p_chunk_id     bigint,
  p_ts           timestamp with time zone[],
  p_received_at  timestamp with time zone[],
  p_arrivals     bigint[],
  p_ids          uuid[],
  p_levels       text[],
  p_messages     text[],
  p_services     text[],
  p_env          text[],
  p_req_id       text[],
  p_user_id      text[],
  p_route        text[],
  p_host         text[],
  p_attrs        jsonb[],
  p_record_bytes integer[]
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_chunk logloom_private.sealed_chunks;
  v_batches integer[];
  v_batch_received_at timestamptz[];
  v_batch_arrivals bigint[];
  v_attrs text[];
  v_same boolean;
begin
  select c.* into v_chunk
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = p_chunk_id;
  v_batches := logloom_private.chunk_batches(v_chunk, null);
  v_batch_received_at := v_chunk.batch_received_at;
  v_batch_arrivals := v_chunk.batch_arrivals;
  v_attrs := logloom_private.attribute_texts(v_chunk, null, null);
  v_same := logloom_private.chunk_times(v_chunk, null) = p_ts
    and array(select v_batch_received_at[unnest(v_batches)]) = p_received_at
    and array(select v_batch_arrivals[unnest(v_batches)]) = p_arrivals
    and logloom_private.chunk_ids(v_chunk, null, v_batches) = p_ids
    and logloom_private.section_texts(v_chunk, v_chunk.section_services) = p_services
    and logloom_private.section_texts(v_chunk, v_chunk.section_levels) = p_levels
    and logloom_private.chunk_messages(v_chunk, null) = p_messages
    and logloom_private.chunk_field(v_chunk, 'env') = p_env
    and logloom_private.chunk_field(v_chunk, 'req_id') = p_req_id
    and logloom_private.chunk_field(v_chunk, 'user_id') = p_user_id
    and logloom_private.chunk_field(v_chunk, 'route') = p_route
    and logloom_private.chunk_field(v_chunk, 'host') = p_host
    and logloom_private.chunk_field(v_chunk, 'record_bytes')::integer[] = p_record_bytes
    -- The texts of attrs, since 1.0 equals 1. Rare keys are read to be in order. One after the
    -- other: a cast of an array keeps what each of its elements takes.
    and cardinality(v_attrs) = cardinality(p_attrs)
    and not exists (
      select
      from (select unnest(v_attrs) as sealed, unnest(p_attrs) as given) a
      where a.sealed is distinct from a.given::text
        and a.sealed::jsonb::text is distinct from a.given::text
    );
  if v_same is not true then
    raise sqlstate 'LL001' using
      message = format('Chunk %s differs from its records', p_chunk_id);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.confirm_address (
  p_email text,
  p_code  text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads or confirms addresses
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_mailbox constant text := lower(logloom_private.trim_space(p_email));
  v_code constant text := logloom_private.trim_space(p_code);
  v_tries_max constant integer := (
    select s.confirmation_tries from logloom_private.settings s
  );
  v_address logloom_private.notification_addresses;
begin
  if v_code !~ '^[0-9]{6}$' then
    perform logloom_private.refuse('notifications.code_is_malformed');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(v_tenant_id)
  );
  select a.* into v_address
  from logloom_private.notification_addresses a
  where a.tenant_id = v_tenant_id and a.mailbox = v_mailbox
  for update;
  if v_address.confirmed_at is not null then
    return jsonb_build_object('success', true);
  end if;
  if v_address.code_expires_at > now() is not true then
    perform logloom_private.refuse('notifications.no_code_is_good');
  end if;
  if v_address.tries >= v_tries_max then
    perform logloom_private.refuse('notifications.code_was_tried_too_often');
  end if;
  -- Hashes are compared: how long that takes tells nothing of the code.
  if extensions.crypt(v_code, v_address.code_hash) <> v_address.code_hash then
    update logloom_private.notification_addresses a
    set tries = a.tries + 1
    where a.tenant_id = v_tenant_id and a.mailbox = v_mailbox;
    return logloom_private.refuse_and_keep('notifications.code_is_wrong');
  end if;
  perform logloom_private.require_room_for_address(v_tenant_id);
  update logloom_private.notification_addresses a
  set confirmed_at = now(),
    confirmed_by = logloom_private.current_user_id(),
    code_hash = null,
    code_expires_at = null,
    tries = 0
  where a.tenant_id = v_tenant_id and a.mailbox = v_mailbox;
  return jsonb_build_object('success', true);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.copied_columns_sql (
  p_fields    text[],
  p_are_sized boolean
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select string_agg(
      case
        when p_are_sized and c.name = 'record_bytes' then 'l.size'
        when c.name <> all(p_fields) and c.name not in ('ts', 'tenant_id') then 'null::' || c.type
        when c.type in ('text', 'jsonb') then format(
          case when p_are_sized then 'case when l.fits then %s end' else '%s' end,
          format(case c.type when 'text' then 'l.%I || ''''' else 'l.%I #> ''{}''' end, c.name)
        )
        else format('l.%I', c.name)
      end,
      ', ' order by c.n
    )
    from (
      select a.attname as name, format_type(a.atttypid, null) as type, a.attnum as n
      from pg_catalog.pg_attribute a
      where a.attrelid = 'logloom.logs'::regclass and a.attnum > 0 and not a.attisdropped
    ) c
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.current_client_id()
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.claims() ->> 'client_id';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.cut_record (
  p_log  public.logloom_log_record,
  p_size bigint
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  p_log.msg := left(p_log.msg, 100000);
  p_log.service := left(p_log.service, 10000);
  p_log.env := left(p_log.env, 10000);
  p_log.req_id := left(p_log.req_id, 10000);
  p_log.user_id := left(p_log.user_id, 10000);
  p_log.route := left(p_log.route, 10000);
  p_log.host := left(p_log.host, 10000);
  p_log.attrs := jsonb_build_object('logloom_cut', jsonb_build_object('attrs', p_size));
  return p_log;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.due_alert_windows (
  p_rule_ids uuid[],
  p_round    logloom_private.alert_rounds
)
  RETURNS SETOF logloom_private.alert_window
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    r.rule_id, e.window_end - make_interval(mins => r.window_minutes), e.window_end,
    null::double precision, null::text, null::jsonb
  from logloom.alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_arrivals a on a.tenant_id = r.tenant_id
  cross join lateral generate_series(
    greatest(
      least(r.last_evaluated_at + interval '1 minute', p_round.window_end - s.alert_grace),
      p_round.window_end - s.alert_catch_up_limit
    ),
    p_round.window_end,
    '1 minute'
  ) e (window_end)
  where r.rule_id = any(p_rule_ids)
    and r.enabled
    -- A window that ended before the rule was what it is now holds less than a search showed then:
    -- the first is the next round's.
    and e.window_end > r.asked_at
    -- Of the time before its first evaluation, only the last window.
    and (r.last_evaluated_at is not null or e.window_end = p_round.window_end)
    -- A window that was evaluated is looked at again only where something came late.
    and (
      r.last_evaluated_at is null
      or e.window_end > r.last_evaluated_at
      or e.window_end > a.first_ts
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.due_notifications()
  RETURNS TABLE (
    notification_id uuid,
    tenant_id       text,
    next_attempt_at timestamp with time zone,
    is_beyond_plan  boolean,
    channel_limit   integer
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  with due as (
    select
      n.notification_id, n.tenant_id, n.channel, n.next_attempt_at,
      row_number() over (
        partition by n.tenant_id, n.channel order by n.next_attempt_at
      ) as channel_place
    from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ), senders as (
    select
      d.tenant_id, d.channel,
      logloom_private.channel_limit(d.channel, logloom_private.plan_of(d.tenant_id)) as attempts
    from (select distinct x.tenant_id, x.channel from due x) d
  )
  select
    d.notification_id, d.tenant_id, d.next_attempt_at,
    d.channel_place > s.attempts - coalesce(u.attempts, 0), s.attempts
  from due d
  join senders s on s.tenant_id = d.tenant_id and s.channel = d.channel
  left join logloom_private.notification_usage u
    on u.tenant_id = d.tenant_id and u.channel = d.channel and u.hour = date_trunc('hour', now());
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.email_refusal (
  p_notification logloom_private.notifications
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_is_confirmed constant boolean := logloom_private.address_is_confirmed(
    p_notification.tenant_id, p_notification.address
  );
begin
  if p_notification.purpose <> 'confirmation' then
    return case when not v_is_confirmed then logloom_private.unconfirmed_address(
      p_notification.tenant_id, p_notification.address
    ) end;
  elsif v_is_confirmed then
    return 'The address is confirmed already';
  -- Who makes a rule and deletes it at once sends nothing to anybody.
  elsif not logloom_private.rule_names_address(
    p_notification.tenant_id, lower(p_notification.address)
  ) then
    return 'No alert rule has this address any more';
  end if;
  select s.* into v_settings from logloom_private.settings s;
  -- A repeated attempt was counted the first time.
  if p_notification.attempts = 0 and (
    select count(*) >= v_settings.confirmation_codes_per_mailbox
    from logloom_private.confirmation_mails m
    where m.mailbox_digest = logloom_private.mailbox_digest(p_notification.address)
      and m.sent_at > now() - v_settings.confirmation_lifetime
  ) then
    return 'Too many codes went to this address: none is mailed to it today';
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_chunk (
  p_tenant_id text,
  p_with      text,
  p_removes   boolean DEFAULT false
)
  RETURNS bigint
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_chunk logloom_private.sealed_chunks;
  v_encoded record;
  v_removed integer;
  v_order integer[];
  v_ts timestamptz[];
  v_received_at timestamptz[];
  v_arrivals bigint[];
  v_ids uuid[];
  v_levels text[];
  v_messages text[];
  v_services text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_attrs jsonb[];
  v_record_bytes integer[];
begin
  execute format(
    $query$
      with %s
      select
        count(*), min(r.ts), max(r.ts), min(r.arrival), max(r.arrival), %s,
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.arrival), array_agg(r.id),
        array_agg(r.level), array_agg(r.msg), array_agg(r.service), array_agg(r.env),
        array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route), array_agg(r.host),
        array_agg(r.attrs), array_agg(r.record_bytes)
      from (select s.* from s order by s.ts, s.id) r
    $query$,
    p_with, case when p_removes then '(select count(*) from removed)' else 'count(*)' end
  )
  into
    v_chunk.records, v_chunk.first_ts, v_chunk.last_ts, v_chunk.first_arrival,
    v_chunk.last_arrival, v_removed, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes;
  if v_removed <> v_chunk.records then
    raise sqlstate 'LL001' using
      message = format('%s records are read, and %s removed', v_chunk.records, v_removed);
  elsif v_chunk.records = 0 then
    return null;
  end if;
  v_chunk.chunk_id := nextval(pg_get_serial_sequence('logloom_private.sealed_chunks', 'chunk_id'));
  v_chunk.tenant_id := p_tenant_id;
  v_chunk.sealed_at := clock_timestamp();
  v_chunk.bytes := 0;
  -- As chunk_end has it of rows.
  select sum(r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint) into v_chunk.weight
  from (
    select
      greatest(
        b.record_bytes,
        200 + coalesce(octet_length(b.msg), 0) + coalesce(pg_column_size(b.attrs), 0)
      ) as bytes
    from (
      select
        unnest(v_messages) as msg, unnest(v_attrs) as attrs, unnest(v_record_bytes) as record_bytes
    ) b
  ) r;
  select e.* into v_encoded
  from logloom_private.encode_messages(v_chunk, v_services, v_levels, v_messages) e;
  v_chunk := v_encoded.o_chunk;
  v_order := v_encoded.o_order;
  v_ts := logloom_private.elements_at(v_ts, v_order);
  v_received_at := logloom_private.elements_at(v_received_at, v_order);
  v_arrivals := logloom_private.elements_at(v_arrivals, v_order);
  v_ids := logloom_private.elements_at(v_ids, v_order);
  v_levels := logloom_private.elements_at(v_levels, v_order);
  v_messages := logloom_private.elements_at(v_messages, v_order);
  v_services := logloom_private.elements_at(v_services, v_order);
  v_env := logloom_private.elements_at(v_env, v_order);
  v_req_id := logloom_private.elements_at(v_req_id, v_order);
  v_user_id := logloom_private.elements_at(v_user_id, v_order);
  v_route := logloom_private.elements_at(v_route, v_order);
  v_host := logloom_private.elements_at(v_host, v_order);
  v_attrs := logloom_private.elements_at(v_attrs, v_order);
  v_record_bytes := logloom_private.elements_at(v_record_bytes, v_order);
  v_chunk := logloom_private.encode_times(v_chunk, v_ts);
  v_chunk := logloom_private.encode_ids(v_chunk, v_ids, v_received_at, v_arrivals);
  insert into logloom_private.sealed_chunks overriding system value select v_chunk.*;

  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'env', 1, v_env);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'req_id', 1, v_req_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'user_id', 1, v_user_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'route', 1, v_route);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'host', 1, v_host);
  perform logloom_private.store_column(
    p_tenant_id, v_chunk.chunk_id, 'record_bytes', 1, v_record_bytes::text[]
  );
  perform logloom_private.store_attributes(p_tenant_id, v_chunk.chunk_id, v_attrs);

  -- Measured first: an update of a table that is spread over nodes takes no such function.
  select
    pg_column_size(c.*) + (
      select coalesce(sum(pg_column_size(k.*)), 0)
      from logloom_private.sealed_columns k
      where k.tenant_id = p_tenant_id and k.chunk_id = v_chunk.chunk_id
    )
  into v_chunk.bytes
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  update logloom_private.sealed_chunks c
  set bytes = v_chunk.bytes
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  -- Each record once, and read back as every reader does.
  if (select count(distinct o.place) from (select unnest(v_order) as place) o) <> v_chunk.records
  then
    raise sqlstate 'LL001' using
      message = format('Chunk %s has records twice', v_chunk.chunk_id);
  end if;
  perform logloom_private.compare_chunk(
    p_tenant_id, v_chunk.chunk_id, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes
  );
  return v_chunk.chunk_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue (
  p_tenant_id    text,
  p_key_id       uuid,
  p_request      logloom_private.ingest_request,
  p_received_at  timestamp with time zone,
  p_record_bytes integer[],
  p_ts_min       timestamp with time zone,
  p_ts_max       timestamp with time zone
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- Shared with other enqueues, exclusive in the flip: once a slot is closed, no transaction that
  -- writes to it is still in flight. The pointer is read after the lock, by a later snapshot.
  perform pg_advisory_xact_lock_shared(logloom_private.lock_key('queue'));
  insert into logloom_private.queue (
    slot, batch_id, batch_key, tenant_id, key_id, received_at, events, bytes, ts_min, ts_max,
    ts, level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
  )
  select
    p.open_slot, nextval('logloom_private.queue_batch_id'), logloom_private.batch_key(
      p_received_at
    ),
    p_tenant_id, p_key_id, p_received_at, cardinality(p_request.p_ts),
    coalesce(p_request.p_bytes, 0), p_ts_min, p_ts_max,
    p_request.p_ts, p_request.p_level, p_request.p_msg, p_request.p_service, p_request.p_env,
    p_request.p_req_id, p_request.p_user_id, p_request.p_route, p_request.p_host,
    p_request.p_attrs, p_record_bytes
  from logloom_private.queue_pointer p;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_notifications (
  p_rule     logloom.alert_rules,
  p_alert_id uuid,
  p_body     text
)
  RETURNS SETOF logloom_private.notifications
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_preferences public.logloom_notification_preferences;
  v_notification logloom_private.notifications;
begin
  v_preferences := (logloom_private.effective_settings(p_rule.tenant_id)).notification_preferences;
  if 'webhook' = any(p_rule.notification_destinations) then
    insert into logloom_private.webhook_secrets (rule_id, secret)
    values (p_rule.rule_id, logloom_private.new_webhook_secret())
    on conflict (rule_id) do nothing;
  end if;
  for v_notification in
    insert into logloom_private.notifications (
      tenant_id, rule_id, alert_id, purpose, channel, address, body, expires_at
    )
    select
      p_rule.tenant_id, p_rule.rule_id, p_alert_id,
      case when p_alert_id is null then 'test' else 'alert' end, d.channel,
      logloom_private.channel_address(d.channel, p_rule.notification_config), p_body,
      now() + s.notification_lifetime
    from logloom_private.settings s
    cross join unnest(p_rule.notification_destinations) d (channel)
    where logloom_private.channel_is_enabled(d.channel, v_preferences)
      and logloom_private.channel_address(d.channel, p_rule.notification_config) is not null
    returning *
  loop
    if v_notification.channel = 'email' and not logloom_private.address_is_confirmed(
      v_notification.tenant_id, v_notification.address
    ) then
      v_notification := logloom_private.end_notification(
        v_notification, 'failed', null,
        case
          -- Whoever tests asks for another code. An alert asks for nothing: it may fire for ever.
          when p_alert_id is null then logloom_private.request_confirmation(p_rule, true)
          else logloom_private.unconfirmed_address(
            v_notification.tenant_id, v_notification.address
          )
        end
      );
    end if;
    return next v_notification;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_rule_test (
  p_rule_id uuid
)
  RETURNS SETOF public.logloom_alert_delivery
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_rule logloom.alert_rules;
  v_sample logloom.alert_history;
  v_channel text;
begin
  select r.* into v_rule
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  for no key update;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  if exists (
    select
    from logloom_private.notifications n
    cross join logloom_private.settings s
    where n.tenant_id = v_tenant_id and n.rule_id = p_rule_id and n.purpose = 'test'
      and n.created_at > now() - s.notification_test_interval
  ) then
    perform logloom_private.refuse('notifications.tested_a_moment_ago');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(v_tenant_id)
  );
  foreach v_channel in array v_rule.notification_destinations loop
    perform logloom_private.require_room_for_test(v_tenant_id, v_channel);
  end loop;
  v_sample.triggered_at := now();
  v_sample.window_end := logloom_private.whole_minute(now());
  v_sample.window_start := v_sample.window_end - make_interval(mins => v_rule.window_minutes);
  v_sample.value := v_rule.threshold;
  v_sample.threshold := v_rule.threshold;
  return query
  select d.*
  from logloom_private.enqueue_notifications(
    v_rule, null, logloom_private.notification_body('alert.test', v_rule, v_sample)
  ) n
  cross join lateral logloom_private.delivery(n) d;
  if not found then
    perform logloom_private.refuse('notifications.no_destination');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enroll_member (
  p_tenant_id text,
  p_user_id   text,
  p_role      text,
  p_email     text
)
  RETURNS public.logloom_member
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_email constant text := nullif(logloom_private.trim_space(p_email), '');
  v_caller text;
  v_user_id text := p_user_id;
  v_members integer;
  v_max integer;
  v_added logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_member_role(p_role);
  if length(v_email) > 320 then
    perform logloom_private.refuse('tenants.email_is_too_long');
  end if;
  if v_user_id is null then
    perform logloom_private.require_parameter('p_user_id', v_email is null);
    v_user_id := logloom_private.auth_user_of_email(v_email);
  end if;
  if logloom_private.usable_id(v_user_id) is null then
    perform logloom_private.refuse('tenants.user_id_is_invalid');
  end if;
  perform logloom_private.provision_tenant(v_tenant_id, logloom_private.claims());
  perform logloom_private.lock_members(v_tenant_id);

  select count(*) into v_members
  from logloom.tenant_members m where m.tenant_id = v_tenant_id;
  if v_members = 0 and logloom_private.is_service_role() then
    if p_role <> 'owner' then
      perform logloom_private.refuse('tenants.first_member_is_owner');
    end if;
  elsif v_members = 0 then
    -- From here on the tenant uses roles: who set that off must not be locked out by it.
    v_caller := logloom_private.require_user_id();
    insert into logloom.tenant_members (tenant_id, user_id, role)
    values (v_tenant_id, v_caller, 'owner');
    v_members := 1;
  end if;
  v_max := (logloom_private.plan_of(v_tenant_id)).max_members;
  if v_members >= v_max and v_user_id is distinct from v_caller then
    perform logloom_private.refuse('tenants.no_room_for_member', v_max::text);
  end if;

  if v_user_id = v_caller then
    -- A tenant's first member is its owner, whatever they asked for.
    update logloom.tenant_members m set email = v_email
    where m.tenant_id = v_tenant_id and m.user_id = v_user_id
    returning m.* into v_added;
  else
    insert into logloom.tenant_members as m (tenant_id, user_id, role, email)
    values (v_tenant_id, v_user_id, p_role, v_email)
    on conflict do nothing
    returning m.* into v_added;
    if not found then
      perform logloom_private.refuse('tenants.already_a_member');
    end if;
  end if;
  return logloom_private.member_of(v_added);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.examine_log_tail (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_records   integer,
  p_last      bigint,
  p_tail      logloom_private.log_tail
)
  RETURNS logloom_private.log_tail
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_all logloom_private.compiled_query;
  v_found public.logloom_log_record[];
  v_first bigint;
  v_id uuid;
begin
  v_all.tree := '{"type": "all"}';
  v_all.filter := 'true';
  -- What does not fit is null: the piece ends before it.
  execute 'with piece as materialized ('
    || logloom_private.log_tail_sql(
      p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last,
      (select s.max_page_bytes from logloom_private.settings s), true
    )
    || ') select array(select l.item from (select (r.record).*, r.arrival, r.record as item '
    || 'from piece r where r.record is distinct from null) l where (' || p_query.filter
    || ') order by l.arrival, l.id), o.arrival, o.id '
    || 'from (select 1) _ left join lateral (select r.arrival, r.id from piece r '
    || 'where r.record is distinct from null order by 1 desc, 2 desc limit 1) o on true'
  into v_found, v_first, v_id;
  p_tail.logs := p_tail.logs || v_found;
  p_tail.more := v_first is not null;
  p_tail.first := coalesce(v_first, p_tail.first);
  p_tail.id := v_id;
  return p_tail;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.expel_member (
  p_tenant_id text,
  p_user_id   text
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_role text;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.lock_members(v_tenant_id);
  select m.role into v_role
  from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  if not found then
    perform logloom_private.refuse('tenants.member_not_found');
  end if;
  if v_role = 'owner' then
    perform logloom_private.require_other_owner(v_tenant_id, p_user_id);
  end if;
  delete from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.extract_json (
  p_text text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if octet_length(p_text) > 65536
    or p_text !~ '^[ \t\r\n]*\{'
    or not pg_input_is_valid(p_text, 'jsonb')
  then
    return '{}';
  elsif p_text ~ '\.[0-9]*0[^0-9]|[0-9][eE]|[0-9.]{41}' then
    return logloom_private.canonical_numbers(p_text::jsonb);
  end if;
  return p_text::jsonb;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.failed_alert_windows (
  p_rule_ids uuid[],
  p_round    logloom_private.alert_rounds
)
  RETURNS SETOF logloom_private.alert_window
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    p.rule_id, p_round.window_end, p_round.window_end, null::double precision,
    coalesce(p.refusal, p.last_error, g.last_error), null::jsonb
  from logloom_private.alert_plans p
  join logloom.alert_rules r on r.rule_id = p.rule_id and r.query_dsl = p.query_dsl
  left join logloom_private.alert_groups g on g.group_id = p.group_id
  where p.rule_id = any(p_rule_ids)
    and r.asked_at < p_round.window_end
    and (
      p.refusal is not null
      or (p.last_error is not null and p.retry_at > p_round.window_end)
      or (g.last_error is not null and g.retry_at > p_round.window_end)
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fetched_page (
  p_sql text
)
  RETURNS public.logloom_log_record[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select case when f.id is not null then f end from logloom_private.fetched_records(p_sql) f
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fill_mask (
  p_mask   text,
  p_digits bytea,
  p_place  bigint
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_bytes bytea;
  v_begin integer := 0;
  v_end integer;
  v_piece text := p_mask;
  v_place bigint := p_place;
  v_count integer;
  v_texts text[] := '{}';
begin
  if octet_length(p_mask) > 65536 then
    v_bytes := convert_to(p_mask, 'UTF8');
  end if;
  loop
    if v_bytes is not null then
      v_end := least(v_begin + 65536, octet_length(v_bytes));
      -- Not within a character.
      while v_end < octet_length(v_bytes) and get_byte(v_bytes, v_end) & 192 = 128 loop
        v_end := v_end + 1;
      end loop;
      v_piece := convert_from(substring(v_bytes from v_begin + 1 for v_end - v_begin), 'UTF8');
    end if;
    v_count := octet_length(v_piece) - octet_length(replace(v_piece, '0', ''));
    if v_count > 0 then
      v_piece := format(
        replace(replace(v_piece, '%', '%%'), '0', '%s'),
        variadic string_to_array(
          substr(
            encode(
              substring(p_digits from (v_place / 2)::integer + 1 for v_count / 2 + 1), 'hex'
            ),
            (1 + v_place % 2)::integer, v_count
          ),
          null
        )
      );
    end if;
    if v_bytes is null then
      return v_piece;
    end if;
    v_texts := v_texts || v_piece;
    v_place := v_place + v_count;
    v_begin := v_end;
    exit when v_begin >= octet_length(v_bytes);
  end loop;
  return array_to_string(v_texts, '');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fill_masks (
  p_masks     text[],
  p_counts    integer[],
  p_digits    bytea,
  p_separator text
)
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_masks text;
begin
  select string_agg(repeat(m.mask || p_separator, m.count), '' order by m.n)
  into v_masks
  from unnest(p_masks, p_counts) with ordinality m (mask, count, n);
  return trim_array(
    string_to_array(logloom_private.fill_mask(v_masks, p_digits, 0), p_separator), 1
  );
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
  p_is_part   boolean                        DEFAULT false,
  p_bytes     bigint                         DEFAULT NULL::bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
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
      p_tenant_id, p_from, p_to, p_filter, p_reads || ' l.ts l.id', p_order, p_limit,
      p_bytes => p_bytes
    )
  end || v_order;
begin
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return v_rows;
  end if;
  return 'from ((select l.* ' || v_rows || ') union all select '
    || case when p_bytes is null then 'l.*' else logloom_private.sized_columns_sql() end
    || ' from logloom_private.sealed_page('
    || format(
      '%s, %L, %L, %L, %L, %L, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      case when p_is_part then p_from
        else logloom_private.kept_since(p_tenant_id, p_from) end,
      p_to, p_query.tree, p_query.filter, p_limit, p_order, p_ts, p_id, p_reads, p_bytes
    )
    || ') l) l' || v_order;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_page (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid
)
  RETURNS logloom_private.found_page
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_is_spread constant boolean := logloom_private.is_spread();
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_parts tstzrange[];
  v_are_parts boolean := true;
  v_part tstzrange;
  v_sql text;
  v_deadline timestamptz;
  v_bytes bigint;
  v_before public.logloom_log_record[] := '{}';
  v_is_full boolean := false;
  v_page logloom_private.found_page;
begin
  v_page.logs := '{}';
  select clock_timestamp() + s.search_turn, s.max_page_bytes
  into v_deadline, v_bytes
  from logloom_private.settings s;
  if p_ts is not null and v_is_descending then
    v_to := least(v_to, p_ts + interval '1 microsecond');
  elsif p_ts is not null then
    v_from := greatest(v_from, p_ts);
  end if;
  v_parts := logloom_private.search_parts(p_tenant_id, v_from, v_to, p_order);
  -- The bound of an extraction is one of all that it reads.
  if jsonb_array_length(p_query.plan -> 'rows') > 0 and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(v_from, v_to)];
    v_are_parts := false;
  end if;
  foreach v_part in array v_parts loop
    v_sql := logloom_private.log_page_sql(
      p_tenant_id, p_query, v_part, p_limit + 1 - cardinality(v_page.logs), p_order, p_ts, p_id,
      v_is_spread and cardinality(v_parts) = 1, v_are_parts,
      v_bytes * (p_limit + 1 - cardinality(v_page.logs)) / (p_limit + 1)
    );
    -- Of a single part nothing is opened after it, and a node would learn of the subtransaction.
    -- Read into the page itself: each variable and expression on the way of an ordinary page
    -- costs it half a percent.
    if cardinality(v_parts) = 1 and v_is_spread then
      v_page.logs := logloom_private.fetched_page(v_sql);
    elsif cardinality(v_parts) = 1 then
      execute 'select array(' || v_sql || ')' into v_page.logs;
    else
      v_before := v_page.logs;
      v_page.logs := v_before || logloom_private.read_apart(v_sql);
    end if;
    if array_position(v_page.logs, null) is not null then
      -- What is extracted was measured at once.
      if jsonb_array_length(p_query.plan -> 'rows') > 0 is not true then
        v_page.logs := '{}';
        v_sql := logloom_private.log_page_sql(
          p_tenant_id, p_query, v_part, p_limit + 1 - cardinality(v_before), p_order, p_ts, p_id,
          v_is_spread and cardinality(v_parts) = 1, v_are_parts,
          v_bytes - logloom_private.answered_bytes(v_before), true
        );
        v_page.logs := v_before || case
          when cardinality(v_parts) = 1 and v_is_spread then logloom_private.fetched_page(v_sql)
          else logloom_private.read_apart(v_sql)
        end;
      end if;
      v_is_full := array_position(v_page.logs, null) is not null;
      v_page.logs := logloom_private.those_that_fit(v_page.logs);
    end if;
    if v_is_full or cardinality(v_page.logs) > p_limit then
      v_page.logs := v_page.logs[1:p_limit];
      v_page.last_ts := (v_page.logs[cardinality(v_page.logs)]).ts;
      v_page.last_id := (v_page.logs[cardinality(v_page.logs)]).id;
      return v_page;
    elsif clock_timestamp() > v_deadline and v_part <> v_parts[cardinality(v_parts)] then
      -- Before or after all records of the parts that are left.
      if v_is_descending then
        v_page.last_ts := lower(v_part);
        v_page.last_id := '00000000-0000-0000-0000-000000000000';
      else
        v_page.last_ts := upper(v_part) - interval '1 microsecond';
        v_page.last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      return v_page;
    end if;
  end loop;
  return v_page;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_tenant (
  p_tenant_id text
)
  RETURNS public.logloom_tenant
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role may insert tenants or members
declare
  v_user_id text;
begin
  if logloom_private.is_service_role() then
    perform logloom_private.refuse('tenants.made_by_a_user');
  end if;
  if not logloom_private.token_is_valid(logloom_private.claims()) then
    perform logloom_private.refuse('callers.not_known');
  end if;
  v_user_id := logloom_private.require_user_id();
  if not (select s.tenants_by_users from logloom_private.settings s) then
    perform logloom_private.refuse('tenants.not_made_by_users');
  end if;
  perform logloom_private.require_writing_client(logloom_private.claims());
  perform logloom_private.require_lasting_user(logloom_private.claims());
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  if logloom_private.usable_tenant_id(p_tenant_id) is null then
    perform logloom_private.refuse('tenants.id_is_invalid');
  end if;
  -- One at a time for a user, so that each has one at most.
  perform logloom_private.lock_members('user ' || v_user_id);
  if logloom_private.claims() ? 'tenant_id'
    or exists (select from logloom.tenant_members m where m.user_id = v_user_id)
  then
    perform logloom_private.refuse('tenants.caller_has_one');
  end if;
  if logloom_private.is_being_deleted(p_tenant_id) then
    perform logloom_private.refuse_taken_tenant();
  end if;
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
  if not found then
    perform logloom_private.refuse_taken_tenant();
  end if;
  insert into logloom.tenant_members (tenant_id, user_id, role)
  values (p_tenant_id, v_user_id, 'owner');
  return logloom_private.tenant_with_plan(p_tenant_id);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.has_more_values (
  p_attrs  jsonb,
  p_values integer
)
  RETURNS boolean
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text constant text := p_attrs::text;
begin
  -- Taking the texts out is dear, and most records have few values even with what is in them.
  return logloom_private.values_in(v_text) > p_values
    and logloom_private.values_in(
      regexp_replace(v_text, '"(?:[^"\\]|\\.)*"', '', 'g')
    ) > p_values;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.health_grade (
  p_unhealthy text,
  p_degraded  text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return jsonb_strip_nulls(
    jsonb_build_object(
      'status', logloom_private.health_word(p_unhealthy is not null, p_degraded is not null),
      'reason', nullif(concat_ws('; ', p_unhealthy, p_degraded), '')
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.hold_tenant (
  p_tenant_id text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.provision_tenant(p_tenant_id, logloom_private.claims());
  perform from logloom.tenants t where t.tenant_id = p_tenant_id for no key update;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_answer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key constant text := p_request.p_idempotency_key;
  v_body_digest constant bytea := decode(p_request.p_body_digest, 'hex');
  v_plan constant logloom.plans := p_state.plan;
  v_has_rate constant boolean :=
    v_plan.events_per_second is not null or v_plan.requests_per_second is not null;
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
  -- Within the timeout of the call, as the watermark wants it.
  v_received_at constant timestamptz := clock_timestamp();
  v_measured record;
begin
  if p_request.p_ts is null then
    return row(
      json_build_object(
        'authenticated', true,
        -- Of a time of receipt that is as long as they come.
        'max_event_bytes', p_state.max_record_bytes
          - logloom_private.bare_record_bytes(p_state.tenant_id, '2000-01-01T00:00:00.000001Z'),
        'max_event_values', p_state.max_record_values
      ),
      logloom_private.quota_headers(p_state, 0), 0
    );
  end if;
  if v_has_rate then
    perform logloom_private.check_rate(p_state);
  end if;
  if cardinality(p_request.p_ts) > p_state.batch_max_events
    or p_request.p_bytes > p_state.batch_max_bytes
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large',
      p_state.batch_max_events::text,
      p_state.batch_max_bytes::text
    );
  end if;
  v_measured := logloom_private.measured_events(p_state.tenant_id, v_received_at, p_request);
  if p_state.keeps_from > v_measured.ts_min or p_state.takes_to < v_measured.ts_max then
    p_request := logloom_private.reject_events_out_of_range(p_request, p_state);
    v_measured := logloom_private.measured_events(p_state.tenant_id, v_received_at, p_request);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := logloom_private.accepted_answer(
    v_answer.ingested, coalesce(p_request.p_rejected, 0), p_request.p_errors,
    p_request.p_cut
  );

  -- A repeat gets the first answer, also once a limit is reached.
  if v_key is not null then
    v_earlier_answer := logloom_private.repeated_answer(
      p_state, v_key, v_body_digest, p_request.p_slice
    );
    if v_earlier_answer is not null then
      return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
    end if;
  end if;
  if v_answer.ingested > 0 then
    if v_measured.longest > p_state.max_record_bytes then
      perform logloom_private.refuse(
        'ingest.record_is_too_long', p_state.max_record_bytes::text
      );
    end if;
    -- An array in an array is two letters and twelve values: shorter records need no count.
    if v_measured.longest > p_state.max_record_values / 6 and exists (
      select
      from unnest(p_request.p_attrs, v_measured.record_bytes) e (attrs, bytes)
      where e.bytes > p_state.max_record_values / 6
        and logloom_private.has_more_values(e.attrs, p_state.max_record_values)
    ) then
      perform logloom_private.refuse(
        'ingest.record_has_too_many_values', p_state.max_record_values::text
      );
    end if;
    perform logloom_private.check_quota(p_state);
    if p_state.queue_is_full then
      perform logloom_private.refuse_full_queue(p_state);
    end if;
    if not p_state.is_provisioned then
      perform logloom_private.provision_tenant(p_state.tenant_id, p_request.p_claims);
    end if;
    -- Where nothing is stored, a repeat stores nothing either: every row kept costs the tenant an
    -- event of its plan.
    if v_key is not null then
      v_earlier_answer := logloom_private.note_answer(
        p_state, v_key, v_body_digest, p_request.p_slice, v_answer.body
      );
      if v_earlier_answer is not null then
        return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
      end if;
    end if;
  end if;
  if v_has_rate then
    v_answer.headers := v_answer.headers || logloom_private.take_rate(p_state, v_answer.ingested);
  end if;
  if v_answer.ingested > 0 then
    perform logloom_private.enqueue(
      p_state.tenant_id, p_state.key_id, p_request, v_received_at, v_measured.record_bytes,
      v_measured.ts_min, v_measured.ts_max
    );
  end if;
  return v_answer;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('ingest.idempotency_key_has_another_body', 409, 'Idempotency-Key was used with another body',
      'Send a new key with a new body; repeat a key only with the same body.',
      'A key repeats a request, body and all, for 24 hours.'),
    ('ingest.monthly_events_are_used_up', 429, 'Monthly event limit reached: %s events',
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      'The plan''s events of this UTC month are used up.'),
    ('ingest.monthly_bytes_are_used_up', 429, 'Monthly byte limit reached: %s bytes',
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      'The plan''s bytes of this UTC month are used up.'),
    ('ingest.too_many_events', 429, 'Rate limit reached: %s events per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.',
      'The plan allows no more for now.'),
    ('ingest.too_many_requests', 429, 'Rate limit reached: %s requests per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.',
      'The plan allows no more for now.'),
    ('ingest.queue_is_full', 503, 'The queue is full, try again',
      'The writer is behind: the endpoint health/queue tells how far.',
      'The writer is far behind; `health/queue` says how far.'),
    ('ingest.request_is_too_large', 413, 'Batch too large (max %s events, %s bytes)',
      'Send it in parts. The function ingest does; the limits are in logloom_private.settings.',
      null),
    ('ingest.record_is_too_long', 413, 'A record is longer than %s bytes',
      'Cut what is longest in it. The function ingest does; the limit is in '
        'logloom_private.settings.',
      null),
    ('ingest.record_has_too_many_values', 413, 'A record has more than %s values',
      'Shorten its largest arrays and objects. The function ingest does; the limit is in '
        'logloom_private.settings.',
      null)
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_state (
  p_request  logloom_private.ingest_request,
  p_requests integer
)
  RETURNS logloom_private.ingest_state
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sender constant record := logloom_private.authenticate_sender(
    p_request.p_tenant_id, p_request.p_key_digest, p_request.p_claims
  );
  v_plan constant logloom.plans := logloom_private.plan_of(v_sender.tenant_id);
  v_month constant date := logloom_private.month_start(now());
  v_pointer logloom_private.queue_pointer;
  v_batches bigint;
  v_queue_limit bigint;
  v_state logloom_private.ingest_state;
begin
  v_state.tenant_id := v_sender.tenant_id;
  v_state.key_id := v_sender.key_id;
  v_state.plan := v_plan;
  v_state.keeps_from := logloom_private.kept_from(v_sender.tenant_id, v_plan);
  v_state.month_end := logloom_private.month_end(now());
  -- One statement, one snapshot: a batch is either counted here or after metered_through.
  select
    exists (select from logloom.tenants t where t.tenant_id = v_sender.tenant_id),
    now() + s.ingest_future_limit, s.ingest_future_limit, s.batch_max_events, s.batch_max_bytes,
    s.max_record_bytes, s.max_record_values, s.idempotency_key_lifetime,
    m.events, m.bytes, s.queue_hard_limit_bytes,
    case when h.last_succeeded_at > now() - s.writer_guard_silence then '{}'::jsonb
      else '{"X-Logloom-Writer": "silent"}' end,
    q.open_slot, q.closed_slot, q.metered_through,
    b.last_value - q.metered_through + p_requests - 1
  into
    v_state.is_provisioned, v_state.takes_to, v_state.future_limit, v_state.batch_max_events,
    v_state.batch_max_bytes, v_state.max_record_bytes, v_state.max_record_values,
    v_state.idempotency_key_lifetime, v_state.events, v_state.bytes,
    v_queue_limit, v_state.headers,
    v_pointer.open_slot, v_pointer.closed_slot, v_pointer.metered_through, v_batches
  from logloom_private.queue_pointer q
  cross join logloom_private.settings s
  cross join logloom_private.queue_batch_id b
  left join logloom_private.job_heartbeats h on h.job = 'write_logs'
  cross join (
    select coalesce(sum(u.events), 0) as events, coalesce(sum(u.bytes), 0) as bytes
    from logloom.usage_days u
    where u.tenant_id = v_sender.tenant_id and u.day >= v_month
  ) m;
  v_state.queue_is_full := logloom_private.queue_is_full(v_pointer, v_queue_limit);

  -- The queue is looked at only when what it may hold could matter.
  if v_state.events + v_batches * v_state.batch_max_events >= v_plan.monthly_events_limit
    or v_state.bytes + v_batches * v_state.batch_max_bytes >= v_plan.monthly_bytes_limit
  then
    select
      v_state.events + coalesce(sum(u.events), 0), v_state.bytes + coalesce(sum(u.bytes), 0)
    into v_state.events, v_state.bytes
    from logloom_private.unmetered_usage(v_sender.tenant_id, v_pointer) u
    where u.day >= v_month;
  end if;
  return v_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.insert_records (
  p_slot       smallint,
  p_batch_from bigint,
  p_batch_to   bigint,
  p_index_from integer,
  p_index_to   integer,
  p_arrival    bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '64MB'
  AS $function$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
begin
  -- Tenant by tenant, which packs the pages of the primary key, in the order that is cheapest to
  -- make; cast, so that what breaks a rule fails here.
  if not logloom_private.is_spread() then
    execute logloom_private.added_records_sql(format(
      $query$
        insert into logloom.logs as l (
          id, tenant_id, ts, received_at, arrival,
          level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
        )
        select
          (q.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
          q.tenant_id, coalesce(e.ts, q.received_at) as ts, q.received_at, $5,
          e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
          e.route, e.host, e.attrs::logloom_private.log_attrs, e.record_bytes
        from (
          -- Made once a batch, not once an event: that is what offset 0 is for.
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%I b
          where b.batch_id between $1 and $2
          offset 0
        ) q,
          unnest(
            q.ts, q.level, q.msg, q.service, q.env, q.req_id, q.user_id, q.route, q.host, q.attrs,
            q.record_bytes
          ) with ordinality e (
            ts, level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes, i
          )
        where e.i between $3 and $4
        order by q.tenant_id collate "C", ts
      $query$,
      v_slot
    ))
    using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
    return;
  end if;
  -- One connection a node, not one a shard: each run's are new, and cost more than they save.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  -- The records first: what Citus copies over a connection that has only read before, it does not
  -- prepare, and a node that is killed while it is told of the commit would lose it. Batches are
  -- put in order, and each event goes straight from its batch to its node, unless the events of
  -- several batches mix: what a search reads in order shall lie in order, page after page.
  execute format(
    $query$
      insert into logloom.logs (
        id, tenant_id, ts, received_at, arrival,
        level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5,
        e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
        e.route, e.host, e.attrs::logloom_private.log_attrs, e.record_bytes
      from (
        select
          q.id_prefix, q.tenant_id, q.received_at, generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, unnest(q.level) as level, unnest(q.msg) as msg,
          unnest(q.service) as service, unnest(q.env) as env, unnest(q.req_id) as req_id,
          unnest(q.user_id) as user_id, unnest(q.route) as route, unnest(q.host) as host,
          unnest(q.attrs) as attrs, unnest(q.record_bytes) as record_bytes
        from (
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%I b
          where b.batch_id between $1 and $2
          order by b.tenant_id collate "C", b.ts_min
          offset 0
        ) q
      ) e
      where e.i between $3 and $4
      %s
    $query$,
    v_slot,
    case
      when logloom_private.has_batches_that_overlap(p_slot, p_batch_from, p_batch_to)
        then 'order by e.tenant_id collate "C", coalesce(e.ts, e.received_at)'
      else ''
    end
  )
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
  perform logloom_private.note_spread_range(
    p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_string_or_uri (
  p_claim jsonb
)
  RETURNS boolean
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return jsonb_typeof(p_claim) = 'string' and (
    strpos(p_claim #>> '{}', ':') = 0
    or p_claim #>> '{}'
      ~ '^[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?#@!$&''()*+,;=-]|%[0-9A-Fa-f]{2})*$'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.job_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select jsonb_object_agg(
      g.job,
      logloom_private.health_grade(
        null,
        nullif(
          concat_ws(
            '; ',
            case when g.silence > g.bound then
              logloom_private.silence_reason('No run of the job', g.silence, g.bound)
            end,
            case when g.failing then format('%s runs failed in a row', g.failures) end
          ),
          ''
        )
      ) || jsonb_build_object(
        'last_success', g.last_succeeded_at,
        'last_failure', g.last_failed_at,
        'failures', g.failures,
        'error_code', g.error_code
      )
    )
    from (
      select
        l.job, h.last_succeeded_at, h.last_failed_at, coalesce(h.failures, 0) as failures,
        logloom_private.silence_since(
          coalesce(h.last_succeeded_at, l.watched_since), p_now
        ) as silence,
        l.silence as bound,
        coalesce(h.failures >= l.failures, false) as failing,
        -- Never the message: it may have a tenant's words, and health is open to all.
        case when h.failures > 0 then substring(h.last_error from '^[0-9A-Z]{5}') end as error_code
      from logloom_private.job_limits l
      left join logloom_private.job_heartbeats h on h.job = l.job
    ) g
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.largest_groups (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_groups jsonb;
begin
  p_query.plan := p_query.plan - 'bucket' - 'sort' - 'limit' - 'having';
  execute 'select jsonb_agg(array(select r.g ->> n from unnest($1) with ordinality u (n, i) '
    || 'order by u.i)) from ('
    || logloom_private.log_stats_sql(
      p_tenant_id, p_query, p_range,
      (select s.search_series from logloom_private.settings s)
    )
    || ') r (g, v, vs, t)'
  into v_groups
  using p_query.by_fields;
  -- They become a part of the statement. Those with long values are among the others.
  return coalesce(
    (
      select jsonb_agg(g.texts order by g.n)
      from (
        select u.*, sum(octet_length(u.texts::text)) over (order by u.n) as bytes
        from jsonb_array_elements(v_groups) with ordinality u (texts, n)
      ) g
      where g.bytes <= (select s.max_page_bytes / 8 from logloom_private.settings s)
    ),
    '[]'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.largest_record (
  p_chunk logloom_private.sealed_chunks
)
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select coalesce(c.greatest, (select max(d::integer) from unnest(c.dictionary) d))
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and c.name = 'record_bytes'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_backlog_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_backlog   integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- An event lies 24 hours ahead at most.
  v_range constant tstzrange := tstzrange(
    now() - (select s.tail_backlog_span from logloom_private.settings s),
    now() + interval '25 hours'
  );
begin
  return 'select r.record from (select (p.r).*, p.r as record from ('
    || logloom_private.log_page_sql(
      p_tenant_id, p_query, v_range, p_backlog, 'desc', p_fits => true
    )
    || ') p (r)) r where r.id is not null order by r.ts, r.id';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_fields_sample (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange
)
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_found integer;
  v_records integer := 0;
  v_cells bigint := 0;
begin
  select s.* into v_settings from logloom_private.settings s;
  for v_found in
    execute 'select case when l.fits then coalesce('
      || '(length(l.attrs::text) - length(replace(l.attrs::text, ''": '', ''''))) / 3, 0) end '
      || logloom_private.sized_rows_sql(
        logloom_private.first_records_sql(
          p_tenant_id, p_query, greatest(lower(p_range), p_query.ts_from),
          least(upper(p_range), p_query.ts_to), p_query.filter, v_settings.search_sample_records,
          'desc', null, null, p_bytes => v_settings.search_sample_bytes
        ),
        'l.ts desc, l.id desc', v_settings.search_sample_bytes
      )
  loop
    v_cells := v_cells + v_found;
    exit when v_found is null or v_records > 0 and v_cells > v_settings.search_sample_cells;
    v_records := v_records + 1;
  end loop;
  return v_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_fields_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  return format(
    $query$
      with recursive sample as materialized (
        -- One character more than a value that is listed may have.
        select
          left(l.level, 201) as level, left(l.service, 201) as service, left(l.env, 201) as env,
          left(l.req_id, 201) as req_id, left(l.user_id, 201) as user_id,
          left(l.route, 201) as route, left(l.host, 201) as host, l.msg is not null as has_msg,
          l.attrs
        %1$s
      ), attributes as (
        select logloom_private.query_segment(a.key) as path, a.value, 1 as depth
        from sample s, lateral (select j.* from jsonb_each(s.attrs) j limit 200) a
        where length(a.key) <= 200
        union all
        select p.path || '.' || logloom_private.query_segment(a.key), a.value, p.depth + 1
        from attributes p,
          lateral (
            select j.*
            from jsonb_each(case jsonb_typeof(p.value) when 'object' then p.value end) j
            limit 200
          ) a
        where p.depth < 5 and length(p.path) + length(a.key) <= 200
      ), present as (
        select f.field, f.type, f.value
        from sample s,
          lateral (
            values
              ('ts', 'timestamp', null),
              ('received_at', 'timestamp', null),
              ('id', 'uuid', null),
              ('level', 'string', s.level),
              ('service', 'string', s.service),
              ('env', 'string', s.env),
              ('req_id', 'string', s.req_id),
              ('user_id', 'string', s.user_id),
              ('route', 'string', s.route),
              ('host', 'string', s.host)
          ) f (field, type, value)
        where f.value is not null or f.type <> 'string'
        union all
        select 'msg', 'string', null from sample s where s.has_msg
        union all
        select
          'attrs.' || a.path,
          jsonb_typeof(a.value),
          case when jsonb_typeof(a.value) in ('string', 'number', 'boolean')
            then left(a.value #>> '{}', 201) end
        -- The recursion ends when nobody asks for more.
        from (select t.* from attributes t limit %4$s) a
        where jsonb_typeof(a.value) not in ('null', 'object')
      ), fields as (
        select
          p.field,
          case count(distinct p.type) when 1 then min(p.type) else 'mixed' end as type,
          count(*) as count
        from present p
        group by p.field
        order by count(*) desc, p.field collate "C"
        limit %2$s
      ), facets as (
        select
          p.field, p.value, count(*) as count,
          row_number() over (
            partition by p.field order by count(*) desc, p.value collate "C"
          ) as place
        from present p
        where length(p.value) <= 200
        group by p.field, p.value
      )
      select
        f.field, f.type, f.count,
        array(
          select row(v.value, v.count)::public.logloom_log_field_value
          from facets v
          where v.field = f.field and v.place <= %3$s
          order by v.place
        )
      from fields f
      order by f.count desc, f.field collate "C"
    $query$,
    logloom_private.first_records_sql(
      p_tenant_id, p_query, greatest(lower(p_range), p_query.ts_from),
      least(upper(p_range), p_query.ts_to), p_query.filter,
      logloom_private.log_fields_sample(p_tenant_id, p_query, p_range), 'desc', null, null,
      p_bytes => v_settings.search_sample_bytes
    ),
    v_settings.search_sample_fields, v_settings.search_sample_values,
    v_settings.search_sample_cells
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_neighbours (
  p_log   public.logloom_log_record,
  p_count integer,
  p_order text,
  p_bytes bigint
)
  RETURNS public.logloom_log_record[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
  v_tree jsonb := '{"type": "and", "items": []}';
  v_name text;
  v_value text;
  v_logs public.logloom_log_record[];
begin
  if p_count = 0 then
    return '{}';
  end if;
  foreach v_name in array array['host', 'service'] loop
    v_value := case v_name when 'host' then p_log.host else p_log.service end;
    v_tree := jsonb_insert(
      v_tree, '{items, -1}',
      case
        when v_value is null then jsonb_build_object(
          'type', 'not', 'item', logloom_private.query_leaf(
            logloom_private.query_field(v_name, 1), '{"test": "exists"}'
          )
        )
        else logloom_private.query_leaf(
          logloom_private.query_field(v_name, 1),
          jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v_value))
        )
      end,
      true
    );
  end loop;
  v_query.tree := v_tree;
  v_query.filter := logloom_private.query_sql(v_tree, 'l');
  for v_fits in 0..1 loop
    execute 'select array(' || logloom_private.log_page_sql(
      p_log.tenant_id, v_query,
      tstzrange(p_log.ts - interval '1 day', p_log.ts + interval '1 day'),
      p_count, p_order, p_log.ts, p_log.id, p_bytes => p_bytes, p_fits => v_fits = 1
    ) || ')'
    into v_logs;
    if array_position(v_logs, null) is null then
      return v_logs;
    end if;
  end loop;
  return logloom_private.those_that_fit(v_logs);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_page_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone       DEFAULT NULL::timestamp WITH time zone,
  p_id        uuid                           DEFAULT NULL::uuid,
  p_by_column boolean                        DEFAULT false,
  p_is_part   boolean                        DEFAULT false,
  p_bytes     bigint                         DEFAULT NULL::bigint,
  p_fits      boolean                        DEFAULT false
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_columns constant text := logloom_private.shown_columns_sql(p_query.plan -> 'fields');
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_filter text := p_query.filter;
  v_is_staged constant boolean := coalesce(jsonb_array_length(p_query.plan -> 'rows') > 0, false);
  v_reads integer := p_limit;
  v_order text;
  v_rows text;
begin
  if p_bytes is null then
    p_bytes := (select s.max_page_bytes from logloom_private.settings s);
  end if;
  -- The comparison of rows drives the index; the bound of ts leaves out partitions.
  if p_order = 'asc' and p_ts is not null then
    v_from := greatest(v_from, p_ts);
    v_filter := format('(l.ts, l.id) > (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  elsif p_ts is not null then
    v_to := least(v_to, p_ts + interval '1 microsecond');
    v_filter := format('(l.ts, l.id) < (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  end if;
  -- A filter after an extraction lets only some through.
  if v_is_staged and p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
    v_reads := (select s.search_stage_records from logloom_private.settings s) + 1;
  end if;
  v_rows := logloom_private.first_records_sql(
    p_tenant_id, p_query, v_from, v_to, v_filter, v_reads, p_order, p_ts, p_id,
    p_is_part => p_is_part, p_bytes => case when not v_is_staged then p_bytes end
  );
  if p_fits or v_is_staged then
    v_order := format('l.ts %1$s, l.id %1$s', p_order);
    v_rows := case
      when v_is_staged then
        -- What is extracted comes on top of what a record has.
        logloom_private.fitting_sql(
          v_columns, '',
          'from (select l.*, 0 as arrival '
            || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
            || format(' order by %s limit %s) l', v_order, p_limit),
          v_order, p_bytes,
          'octet_length(to_json(row(' || v_columns || ')::public.logloom_log_record)::text)'
        )
      else logloom_private.fitting_sql(v_columns, '', v_rows, v_order, p_bytes)
    end;
  else
    v_rows := logloom_private.small_sql(v_columns, '', v_rows, p_limit, p_bytes);
  end if;
  return case when p_by_column then 'select (r.record).* from (' || v_rows || ' offset 0) r'
    else v_rows end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_tail_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_bytes     bigint,
  p_fits      boolean
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
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
  v_rows := case when v_is_sealed then
        'from (select l.* ' || v_rows
        || ' union all select ' || logloom_private.sized_columns_sql()
        || ' from logloom_private.sealed_arrivals('
        || format(
          '%s, %L, %L, %L, %L, %L, %L, %L, %L',
          logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_first, p_id, p_last,
          logloom_private.kept_from(p_tenant_id), p_query.tree, p_query.filter, p_limit, p_bytes
        )
        || ') l) l'
      else
        v_rows
      end
    || ' order by l.arrival, l.id limit ' || p_limit;
  return case when p_fits
    then logloom_private.fitting_sql(
      logloom_private.log_columns_sql(), ', l.arrival, l.id', v_rows, 'l.arrival, l.id', p_bytes
    )
    else logloom_private.small_sql(
      logloom_private.log_columns_sql(), ', l.arrival, l.id', v_rows, p_limit, p_bytes
    ) end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_within (
  p_tenant_id text,
  p_window    tstzrange,
  p_id        uuid,
  p_rows      boolean,
  p_sealed    boolean
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_logs public.logloom_log_record[] := '{}';
begin
  if p_rows then
    v_logs := logloom_private.read_apart(
      'select ' || logloom_private.log_record_sql() || ' ' || logloom_private.tenant_rows_sql(
        p_tenant_id, lower(p_window), upper(p_window), format('l.id = %L::uuid limit 1', p_id)
      )
    );
  end if;
  if p_sealed and v_logs = '{}' then
    v_logs := logloom_private.read_apart(
      'select ' || logloom_private.log_record_sql() || format(
        ' from logloom_private.sealed_log(%L, %L, %L, %L) l limit 1',
        p_tenant_id, logloom_private.kept_since(p_tenant_id, lower(p_window)),
        upper(p_window), p_id
      )
    );
  end if;
  if logloom_private.answered_bytes(v_logs)
    > (select s.max_page_bytes from logloom_private.settings s)
  then
    return logloom_private.cut_record(v_logs[1], logloom_private.answered_bytes(v_logs));
  end if;
  return v_logs[1];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.masked_texts (
  p_column    logloom_private.sealed_columns,
  p_positions integer[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  SET work_mem TO '32MB'
  AS $function$
declare
  v_first constant integer := p_column.first - 1;
  v_dictionary text[] := p_column.dictionary;
  v_digits bytea := p_column.digits || ''::bytea;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_at constant integer[] := array(select p - v_first from unnest(p_positions) p);
  v_found integer[];
  v_wanted integer[];
  v_numbers integer[];
  v_places integer[];
  v_texts text[];
begin
  if p_positions is not null then
    v_found := array(
      select
        case when v_codes is null and v_wide_codes is null then 1
          else coalesce(v_codes[p.place]::integer + 129, v_wide_codes[p.place]) end
      from unnest(v_at) with ordinality p (place, n)
      order by p.n
    );
    -- A mask without digits is the value.
    v_wanted := array(
      select d.code
      from (select distinct f from unnest(v_found) f) d (code)
      where strpos(v_dictionary[d.code], '0') > 0
      order by d.code
    );
    -- Before a value stand the digits of the masks of lower codes and those of its own mask at
    -- lower positions.
    return array(
      with lower as (
        select l.n, sum(sum(l.digits)) over (order by l.n) as digits
        from (
          -- How many of the codes that are found are not above this one.
          select
            width_bucket(d.code::integer, v_wanted) as n,
            d.count * (octet_length(d.mask) - octet_length(replace(d.mask, '0', ''))) as digits
          from unnest(v_dictionary, p_column.counts) with ordinality d (mask, count, code)
          where d.code < v_wanted[cardinality(v_wanted)]
        ) l
        group by l.n
      ), places as (
        -- To look for one code takes a twentieth of what it takes to gather the places of all.
        select
          d.code,
          case when v_codes is null then array_positions(v_wide_codes, d.code::smallint)
            else array_positions(v_codes, (d.code - 129)::"char") end as places
        from unnest(v_wanted) d (code)
        where cardinality(v_wanted) <= 20
        union all
        select a.code, array_agg(a.place order by a.place)
        from (
          select
            coalesce(u.code::integer + 129, u.wide_code) as code, u.place
          from (
            select
              unnest(v_codes) as code, unnest(v_wide_codes) as wide_code,
              generate_series(1, coalesce(cardinality(v_codes), cardinality(v_wide_codes)))
                as place
          ) u
        ) a
        join unnest(v_wanted) d (code) on d.code = a.code
        where cardinality(v_wanted) > 20
        group by a.code
      ), masks as materialized (
        select
          d.code, octet_length(d.mask) - octet_length(replace(d.mask, '0', '')) as digits,
          coalesce(l.digits, 0)::integer as before, p.places
        from (
          select u.code, v_dictionary[u.code] as mask, u.n
          from unnest(v_wanted) with ordinality u (code, n)
          offset 0
        ) d
        left join lower l on l.n = d.n - 1
        left join places p on p.code = d.code
      ), found as (
        select
          f.n, v_dictionary[f.code] as mask, m.digits,
          m.before + m.digits * (coalesce(width_bucket(f.place, m.places), f.place) - 1) as place
        from unnest(v_found, v_at) with ordinality f (code, place, n)
        left join masks m on m.code = f.code
        offset 0
      )
      select
        case
          when f.digits is null then f.mask
          when f.digits > 1000 then logloom_private.fill_mask(f.mask, v_digits, f.place)
          else format(
            replace(replace(f.mask, '%', '%%'), '0', '%s'),
            variadic string_to_array(
              substr(
                encode(substring(v_digits from f.place / 2 + 1 for f.digits / 2 + 1), 'hex'),
                1 + f.place % 2, f.digits
              ),
              null
            )
          )
        end
      from found f
      order by f.n
    );
  end if;
  -- The digits lie in the order of (code, position).
  v_texts := logloom_private.fill_masks(v_dictionary, p_column.counts, v_digits, e'\x1f');
  if v_codes is not null then
    v_numbers := array(select unnest(v_codes)::integer + 129);
  else
    v_numbers := v_wide_codes::integer[];
  end if;
  if v_numbers is not null then
    v_places := array(
      select c.place
      from (
        select unnest(v_numbers) as code, generate_series(1, cardinality(v_numbers)) as place
      ) c
      -- Positions without a value come last, where no text is left.
      order by c.code, c.place
    );
    v_texts := array(
      select t.value
      from (select unnest(v_texts) as value, unnest(v_places) as place) t
      order by t.place
    );
  end if;
  return v_texts;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.measured_events (
  p_tenant_id   text,
  p_received_at timestamp with time zone,
  p_request     logloom_private.ingest_request,
  OUT           record_bytes integer[],
  OUT           longest integer,
  OUT           ts_min timestamp with time zone,
  OUT           ts_max timestamp with time zone
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_bare constant integer := logloom_private.bare_record_bytes(p_tenant_id, p_received_at);
begin
  -- In one pass over the events. As JSON a time has two quotes more than as a text, and the zone's
  -- minutes; eight texts in one have two quotes, and each of them its own, or is null.
  select array_agg(m.bytes), max(m.bytes), min(m.ts), max(m.ts)
  into record_bytes, longest, ts_min, ts_max
  from (
    select
      t.ts,
      v_bare + octet_length(t.ts::text) + 5
        + octet_length(
          to_json(concat(
            t.level, t.msg, t.service, t.env, t.req_id, t.user_id, t.route, t.host
          ))::text
        ) + 14 + 2 * num_nulls(
          t.level, t.msg, t.service, t.env, t.req_id, t.user_id, t.route, t.host
        )
        + coalesce(octet_length(t.attrs::text), 4) as bytes
    from (
      select
        coalesce(e.ts, p_received_at) as ts, e.level, e.msg, e.service, e.env, e.req_id,
        e.user_id, e.route, e.host, e.attrs
      from (
        select
          unnest(p_request.p_ts) as ts, unnest(p_request.p_level) as level,
          unnest(p_request.p_msg) as msg, unnest(p_request.p_service) as service,
          unnest(p_request.p_env) as env, unnest(p_request.p_req_id) as req_id,
          unnest(p_request.p_user_id) as user_id, unnest(p_request.p_route) as route,
          unnest(p_request.p_host) as host, unnest(p_request.p_attrs) as attrs
      ) e
    ) t
    -- Made once an event, not once for each of what is asked of it.
    offset 0
  ) m;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.members_of (
  p_object  jsonb,
  p_members text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select jsonb_object_agg(m.key, m.value)
    from jsonb_each(p_object) m
    where m.key = any(p_members)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.my_stored (
  p_tenant_id text
)
  RETURNS public.logloom_stored
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles read neither chunks nor counts
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_sealed bigint;
begin
  select coalesce(sum(c.bytes), 0) into v_sealed
  from logloom_private.sealed_chunks c
  where c.tenant_id = v_tenant_id;
  return row(v_sealed, logloom_private.hot_bytes(v_tenant_id))::public.logloom_stored;
exception
when query_canceled or connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.my_stored(p_tenant_id);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_alert_rules (
  p_after uuid,
  p_limit integer,
  p_round logloom_private.alert_rounds
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select r.rule_id
    from logloom.alert_rules r
    where r.enabled
      and r.asked_at < p_round.window_end
      and r.last_evaluated_at is distinct from p_round.window_end
      and (p_after is null or r.rule_id > p_after)
    order by r.rule_id
    limit p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_notifications (
  p_limit integer
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    with under_way as (
      select n.tenant_id, count(*) as deliveries
      from logloom_private.notifications n
      where n.claim_id is not null and n.next_attempt_at > now()
      group by n.tenant_id
    ), turns as (
      select
        d.notification_id, d.next_attempt_at,
        coalesce(u.deliveries, 0)
          + row_number() over (partition by d.tenant_id order by d.next_attempt_at) as place
      from logloom_private.due_notifications() d
      left join under_way u on u.tenant_id = d.tenant_id
      where not d.is_beyond_plan
    ), numbered as (
      select t.*, row_number() over (order by t.place, t.next_attempt_at) as taken
      from turns t
    )
    select m.notification_id
    from numbered m
    cross join logloom_private.settings s
    where m.place + m.taken
      <= s.notification_open_limit - (select coalesce(sum(u.deliveries), 0) from under_way u) + 1
    order by m.taken
    limit p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.notifications_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('notifications.no_destination', 400,
      'The alert rule has no destination that notifications may go to',
      'Set notification_destinations, and see notification_preferences of the tenant.',
      '`test_alert_rule`: no destination, or the tenant''s preferences refuse it.'),
    ('notifications.tested_a_moment_ago', 429, 'This alert rule was tested a moment ago',
      'Wait a few seconds.', '`test_alert_rule`: once in 10 seconds.'),
    ('notifications.delivery_not_found', 404, 'Delivery not found',
      'Send a delivery_id of list_alert_deliveries.', 'No such `delivery_id` in this tenant.'),
    ('notifications.delivery_arrived', 400, 'The delivery arrived already',
      'test_alert_rule sends another notification.',
      '`retry_alert_delivery`: there is nothing to send again.'),
    ('notifications.claim_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'Claim again for more.',
      '`claim_alert_notifications`, which only the function `logloom-notify` calls.'),
    ('notifications.outcome_is_unknown', 400, 'Invalid p_outcome: one of delivered, retry, failed',
      'retry is tried again later, failed is not.',
      '`settle_alert_notification`, which only the function `logloom-notify` calls.'),
    ('notifications.no_room_for_address', 400,
      'Plan limit exceeded: notification addresses (max %s)',
      'An address that no alert rule has any more makes room; or choose a larger plan.',
      '`confirm_alert_address`: the plan''s `max_notification_addresses`. One that no '
        'rule has makes room.'),
    ('notifications.code_is_malformed', 400, 'Invalid p_code: six digits',
      'Send the code as the mail has it, as a text.',
      '`confirm_alert_address`: as the mail has it, as a text.'),
    ('notifications.no_code_is_good', 400, 'No code is good for this address',
      'test_alert_rule mails a new one to the address of a rule.',
      'None was mailed to it, or it lapsed: `test_alert_rule` mails a new one.'),
    ('notifications.code_was_tried_too_often', 400, 'The code was tried too often',
      'test_alert_rule mails a new one to the address of the rule.',
      'Five wrong tries: `test_alert_rule` mails a new one.'),
    ('notifications.code_is_wrong', 400, 'The code is wrong',
      'The last one that was mailed is good, for five tries.', null),
    ('notifications.code_is_not_mailed_twice', 400, 'A code is not mailed twice',
      'test_alert_rule mails a new one.',
      '`retry_alert_delivery`: `test_alert_rule` mails a new one.'),
    ('notifications.address_is_not_confirmed', 400, 'The address is not confirmed',
      'Confirm it by the code that was mailed to it; test_alert_rule mails a new one.', null),
    ('notifications.no_room_for_test', 429, 'The plan allows %s tests in an hour by %s',
      'Wait, or choose a larger plan.',
      '`test_alert_rule`: the plan''s `emails_per_hour`, `webhooks_per_hour`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.numeric_date (
  p_claim jsonb
)
  RETURNS numeric
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if jsonb_typeof(p_claim) = 'number' and abs(p_claim::numeric) < 1e15 then
    return p_claim::numeric;
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.operations()
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array[
    'acknowledge_alert',
    'add_tenant_member',
    'check_plan_feature',
    'claim_alert_notifications',
    'confirm_alert_address',
    'create_alert_rule',
    'create_api_key',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
    'delete_logs',
    'delete_saved_search',
    'delete_tenant',
    'get_alert_rule',
    'get_api_key_usage',
    'get_current_tenant',
    'get_log',
    'get_log_context',
    'get_saved_search',
    'get_saved_search_categories',
    'get_saved_search_count',
    'get_tenant_settings',
    'get_tenant_usage',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'list_alert_addresses',
    'list_alert_deliveries',
    'list_alert_history',
    'list_alert_rules',
    'list_api_keys',
    'list_log_fields',
    'list_log_retention_runs',
    'list_saved_searches',
    'list_tenant_audit_events',
    'list_tenant_members',
    'log_histogram',
    'log_series',
    'log_stats',
    'preview_alert_rule',
    'remove_tenant_member',
    'retry_alert_delivery',
    'revoke_api_key',
    'rotate_alert_webhook_secret',
    'rotate_api_key',
    'run_saved_search',
    'run_writer',
    'search_logs',
    'set_tenant_member_role',
    'settle_alert_notification',
    'tail_logs',
    'test_alert_rule',
    'update_alert_rule',
    'update_saved_search',
    'update_tenant_settings',
    'validate_query'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.page_bytes()
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles do not read logloom_private.settings
begin
  return (select s.max_page_bytes from logloom_private.settings s);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pending_alert_scans (
  p_round     logloom_private.alert_rounds,
  p_tenant_id text                         DEFAULT NULL::text
)
  RETURNS SETOF logloom_private.alert_plans
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select p.*
  from logloom_private.alert_plans p
  join logloom.alert_rules r on r.rule_id = p.rule_id
  where (p_tenant_id is null or p.tenant_id = p_tenant_id)
    and p.group_id is null
    and p.refusal is null
    and p.query_dsl = r.query_dsl
    and r.enabled
    and r.asked_at < p_round.window_end
    and r.last_evaluated_at is distinct from p_round.window_end
    and coalesce(p.retry_at <= p_round.window_end, true);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.plan_own_alert_rule (
  p_tenant_id text,
  p_rule_id   uuid
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles see neither plans nor groups
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  if exists (
    select
    from logloom.alert_rules r
    left join logloom_private.alert_plans p on p.rule_id = r.rule_id
    where r.rule_id = p_rule_id
      and r.tenant_id = v_tenant_id
      and r.enabled
      and p.query_dsl is distinct from r.query_dsl
  ) then
    perform logloom_private.plan_alert_rule(p_rule_id, now());
  end if;
exception when foreign_key_violation then
  -- Its group was deleted meanwhile, when it had no rule: the evaluator makes both.
  return;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pre_request_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_function constant text := (logloom_private.pre_request_setting()).function;
  v_is_called boolean;
begin
  -- Ours itself, or a function of the project that calls ours.
  v_is_called := v_function = 'logloom_private.check_request' or exists (
    select
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.proname = substr(v_function, strpos(v_function, '.') + 1)
      and (strpos(v_function, '.') = 0 or n.nspname = split_part(v_function, '.', 1))
      and strpos(p.prosrc, 'logloom_private.check_request') > 0
  );
  return logloom_private.health_grade(
    null,
    case when not v_is_called then
      'PostgREST does not call logloom_private.check_request: '
        'logloom_private.adopt_pre_request() mends it'
    end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_grouped_rule (
  p_preview    public.logloom_alert_preview,
  p_values     logloom_private.alert_window[],
  p_threshold  double precision,
  p_comparison text,
  p_cooldown   interval
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_crowded timestamptz[];
  v_seen logloom_private.alert_window[];
  v_alerts public.logloom_alert_preview_entry[];
begin
  select s.* into v_settings from logloom_private.settings s;
  -- A window with more groups than a rule looks at has no value: the rule fires for none.
  v_crowded := array(
    select w.window_end
    from unnest(p_values) w
    group by w.window_end
    having count(*) > v_settings.alert_groups
  );
  v_seen := array(select w from unnest(p_values) w where w.window_end <> all(v_crowded));
  v_alerts := logloom_private.preview_group_alerts(
    v_seen, p_threshold, p_comparison, p_cooldown
  );
  p_preview.crowded_windows := cardinality(v_crowded);
  p_preview.total_alerts := cardinality(v_alerts);
  p_preview.alerts := array(
    select a
    from (
      select o.a, sum(octet_length((o.a)."group"::text)) over (
        order by (o.a).window_end desc, (o.a)."group"
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
      from (
        select a from unnest(v_alerts) a
        order by a.window_end desc, a."group"
        limit v_settings.preview_alerts
      ) o
    ) n
    where coalesce(n.bytes_before, 0) < v_settings.max_page_bytes / 2
    order by (n.a).window_end, (n.a)."group"
  );
  p_preview.series := array(
    select row(e.window_end, max(w.value))::public.logloom_alert_preview_point
    from generate_series(
      p_preview.ts_from + make_interval(mins => p_preview.step_minutes),
      p_preview.ts_to,
      make_interval(mins => p_preview.step_minutes)
    ) e (window_end)
    left join unnest(v_seen) w on w.window_end = e.window_end
    group by e.window_end
    order by e.window_end
  );
  p_preview.total_groups := (select count(distinct w."group") from unnest(p_values) w);
  p_preview.groups := array(
    select row(g."group", g.alerts, g.series)::public.logloom_alert_preview_group
    from (
      select
        w."group", coalesce(a.alerts, 0)::integer as alerts, max(w.value) as greatest,
        array_agg(
          row(w.window_end, w.value)::public.logloom_alert_preview_point order by w.window_end
        ) as series
      from unnest(v_seen) w
      left join (
        select a."group", count(*) as alerts from unnest(v_alerts) a group by 1
      ) a on a."group" = w."group"
      group by w."group", a.alerts
      order by coalesce(a.alerts, 0) desc, greatest desc nulls last, w."group"
      limit v_settings.search_series
    ) g
    where octet_length(g."group"::text) < v_settings.max_page_bytes / 64
  );
  return p_preview;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.provision_current_tenant (
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role may insert tenants or choose a plan
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.provision_tenant(v_tenant_id, logloom_private.claims());
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.provision_tenant (
  p_tenant_id text,
  p_claims    jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return;
  end if;
  perform logloom_private.require_lasting_user(p_claims);
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.put_back_delivery (
  p_delivery_id uuid
)
  RETURNS public.logloom_alert_delivery
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_notification logloom_private.notifications;
  v_address text;
begin
  select n.* into v_notification
  from logloom_private.notifications n
  where n.tenant_id = v_tenant_id and n.notification_id = p_delivery_id
  for update;
  if not found then
    perform logloom_private.refuse('notifications.delivery_not_found');
  end if;
  if v_notification.status = 'delivered' then
    perform logloom_private.refuse('notifications.delivery_arrived');
  end if;
  if v_notification.purpose = 'confirmation' then
    perform logloom_private.refuse('notifications.code_is_not_mailed_twice');
  end if;
  v_address := coalesce(
    (
      select logloom_private.channel_address(v_notification.channel, r.notification_config)
      from logloom.alert_rules r
      where r.rule_id = v_notification.rule_id
    ),
    v_notification.address
  );
  if v_notification.channel = 'email'
    and not logloom_private.address_is_confirmed(v_tenant_id, v_address)
  then
    perform logloom_private.refuse('notifications.address_is_not_confirmed');
  end if;
  -- One that is under way stays with who claimed it. The address may have been mended meanwhile.
  update logloom_private.notifications n
  set status = 'pending',
    settled_at = null,
    next_attempt_at = case when n.claim_id is null then now() else n.next_attempt_at end,
    expires_at = now() + (select s.notification_lifetime from logloom_private.settings s),
    address = v_address
  where n.notification_id = p_delivery_id
  returning n.* into v_notification;
  return logloom_private.delivery(v_notification);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_aggregate_sql (
  p_aggregate jsonb,
  p_alias     text,
  p_number    text  DEFAULT NULL::text,
  p_double    text  DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_kind constant text := p_aggregate ->> 'kind';
  v_number text;
  v_text text;
begin
  if v_kind in ('count', 'rate') then
    return 'count(*)::double precision';
  elsif v_kind = 'count_distinct' then
    -- Of long texts their digests: all that differ are sorted in memory.
    v_text := logloom_private.query_group_sql(p_aggregate -> 'field', p_alias);
    if p_aggregate -> 'field' ->> 'field' not in ('ts', 'received_at', 'id') then
      v_text := format(
        'case when octet_length(%1$s) <= 200 then %1$s '
          || 'else encode(sha256(convert_to(%1$s, ''UTF8'')), ''hex'') || repeat('' '', 200) end',
        v_text
      );
    end if;
    return 'count(distinct ' || v_text || ')::double precision';
  elsif p_aggregate -> 'field' ->> 'field' in ('ts', 'received_at') then
    return format(
      'extract(epoch from %s(%s))::double precision',
      v_kind, logloom_private.query_value_sql(p_aggregate -> 'field', p_alias)
    );
  end if;
  v_number := coalesce(p_number, 'logloom_private.json_number('
    || logloom_private.query_value_sql(p_aggregate -> 'field', p_alias) || ')');
  return case v_kind
    when 'sum' then 'logloom_private.finite_double(coalesce(sum(' || v_number || '), 0))'
    when 'avg' then 'logloom_private.finite_double(avg(' || v_number || '))'
    when 'min' then 'logloom_private.finite_double(min(' || v_number || '))'
    when 'max' then 'logloom_private.finite_double(max(' || v_number || '))'
    else 'logloom_private.finite_double(percentile_cont(' || (p_aggregate ->> 'fraction')
      || ') within group (order by '
      || coalesce(p_double, 'logloom_private.finite_double(' || v_number || ')') || '))'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_attrs_sql (
  p_leaf  jsonb,
  p_value text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sql text := '';
  v_number text;
begin
  if p_leaf ->> 'test' = 'exists' then
    return p_value || ' <> ''null''';
  elsif p_leaf ->> 'test' = 'equal' and not p_leaf ? 'fold' then
    for v_at in 0 .. jsonb_array_length(p_leaf -> 'values') - 1 loop
      v_sql := v_sql || case when v_at > 0 then ' or ' else '' end
        || logloom_private.query_attr_equal_sql(p_value, p_leaf -> 'values' ->> v_at);
    end loop;
    return v_sql;
  elsif p_leaf ->> 'test' = 'range' and p_leaf ? 'unit' then
    return logloom_private.query_bounds_sql(
      p_leaf,
      'logloom_private.quantity(case jsonb_typeof(' || p_value || ') when ''string'' then '
        || p_value || ' #>> ''{}'' end, ' || quote_literal(p_leaf ->> 'unit') || ')',
      '::numeric'
    );
  elsif p_leaf ->> 'test' = 'range' then
    -- jsonb orders types before values, so the type comes first.
    v_number := 'logloom_private.written_number(' || p_value || ' #>> ''{}'')';
    return 'case jsonb_typeof(' || p_value || ') when ''number'' then '
      || coalesce(logloom_private.query_bounds_sql(p_leaf, p_value), 'true')
      || ' when ''string'' then '
      || coalesce(
        logloom_private.query_bounds_sql(p_leaf, v_number, '::numeric'), v_number || ' is not null'
      )
      || ' end';
  end if;
  return logloom_private.query_any_text_sql(
    p_value, logloom_private.query_text_test(p_leaf)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('query.minus_negates_nothing', 400, '- negates a term that follows at once',
      'Write -term, or "-" for the character itself.', null),
    ('query.backslash_escapes_nothing', 400, 'A backslash has nothing to escape',
      'Write \\ for the character itself.', null),
    ('query.bound_is_missing', 400, 'A bound of a range is missing',
      'Write [a TO b] or {a TO b}; a * alone leaves a bound open.', null),
    ('query.bracket_closes_nothing', 400, 'A closing bracket closes nothing',
      'Take it away, or quote it to search for it.', null),
    ('query.bracket_is_not_closed', 400, 'A closing bracket is missing',
      'Close the bracket that position %s opens.', null),
    ('query.colon_is_missing', 400, 'A colon is missing after an attribute',
      'Write @"name":value without white space.', null),
    ('query.wildcard_in_comparison', 400, 'A comparison takes no wildcard',
      'Quote the text, or leave the bound open with a * alone.', null),
    ('query.field_is_missing', 400, 'A field is missing before the colon',
      'Write field:value without white space around the colon, or quote the text.', null),
    ('query.number_is_out_of_range', 400, 'A number is out of range',
      'Exponents reach from -400 to 400.', null),
    ('query.quote_is_not_closed', 400, 'A quoted text is not closed',
      'End it with ", or write \" for the character itself.', null),
    ('query.quoted_text_is_empty', 400, 'A quoted text to search for is empty',
      'Write a text, or field:"" for an empty field.', null),
    ('query.range_is_not_closed', 400, 'A range is not closed',
      'End it with ] (inclusive) or } (exclusive).', null),
    ('query.regex_is_not_quoted', 400, 'A regular expression is quoted',
      'Write ~"regex", or \~ for the character itself.', null),
    ('query.shift_is_too_long', 400, 'A shift from now is longer than 100 years',
      'Write a shorter one, such as now-15m.', null),
    ('query.term_is_missing_at_the_end', 400, 'A term is missing at the end',
      'AND, OR and NOT stand between terms and brackets hold terms; quote the text to search '
        'for it.', null),
    ('query.term_is_missing', 400, 'A term is missing before %s',
      'AND, OR and NOT stand between terms and brackets hold terms; quote the text to search '
        'for it.', null),
    ('query.value_is_missing_in_a_list', 400, 'A value is missing',
      'Write field:(a OR b), values only, and close the bracket.', null),
    ('query.comparison_needs_a_value', 400, 'A value is missing after %s',
      'Write a number, a time or a word after it.', null),
    ('query.test_needs_a_value', 400, 'A value is missing after %s',
      'Write a word or a quoted text after it; "" is the empty text.', null),
    ('query.value_is_missing', 400, 'A value is missing after %s',
      'Write field:value without white space around the colon; field:"" finds the empty text.',
      null),
    ('query.not_a_number', 400, 'An attribute is compared with a number, and this is none: %s',
      'Write a number such as -5, 0.5 or 1e3, or a quantity such as 1.5s or 10MiB, without '
        'quotes.', null),
    ('query.nested_too_deep', 400, 'Brackets and NOTs nest deeper than 16',
      'Take away brackets that group nothing.', null),
    ('query.not_a_uuid', 400, 'Not a UUID: %s', 'id takes a whole UUID, or * for any.', null),
    ('query.not_a_time', 400, 'Not a time: %s',
      'Write 2026-11-21, 2026-11-21T10:00:00Z, now, now-15m or -15m (s, m, h, d or w).', null),
    ('query.to_is_missing', 400, 'TO is missing in a range',
      'Write [a TO b] or {a TO b}, TO in upper case.', null),
    ('query.path_is_malformed', 400, 'The path of an attribute is malformed',
      'Separate segments by one dot. A segment of other characters than letters, digits, _ and '
        '- is quoted: @"a b".c', null),
    ('query.too_many_terms', 400, 'The query has more than 64 terms',
      'Leave terms out, or join texts by wildcards or a regex.',
      'Each term of a list of values counts.'),
    ('query.too_long', 400, 'The query is longer than 2048 bytes',
      'Shorten it, or narrow the time range instead of naming more terms.', null),
    ('query.field_is_unknown', 400, 'Unknown field %s',
      '%2$sQuote a text that holds a colon. The fields are ts, received_at, id, level, msg, '
        'service, env, req_id, user_id, route, host, any and attrs.',
      'The hint names a field that is written alike.'),
    ('query.level_is_unknown', 400, 'Unknown level %s',
      'A level is debug, info, warn or error, or an alias of one; level:>=warn is a range.', null),
    ('query.white_space_is_missing', 400, 'White space is missing before %s',
      'Separate two terms by a space, or quote the whole text and write \" for a quote in it.',
      null),
    ('query.comparison_needs_a_colon', 400, 'White space is missing before %s',
      'A comparison is written with a colon: %2$s', null),
    ('query.attribute_is_missing', 400, 'attrs needs the name of an attribute',
      'Write @name or attrs.name, such as @status.', null),
    ('query.id_is_not_compared', 400, '%s cannot be compared',
      'id takes a whole UUID, or * for any.', null),
    ('query.text_is_not_compared', 400, '%s cannot be compared',
      'Search %s for a text, a "quoted phrase" or a ~"regex".', null),
    ('query.word_is_not_for_lists', 400, '%s cannot stand in a list of values',
      'The values of field:(a OR b) are joined by OR; quote the word to search for it.', null),
    ('query.operator_is_for_values', 400, '%s stands at the start of a value only',
      'Write field:>5, or quote the text.', null),
    ('query.bracket_is_for_ranges', 400, '%s stands in a range of a field only',
      'Write field:[a TO b], or quote the text. {app="x"} of other languages is service:x here.',
      null),
    ('query.id_takes_no_regex', 400, '%s takes no regular expression',
      'id takes a whole UUID, or * for any.', null),
    ('query.time_takes_no_regex', 400, '%s takes no regular expression',
      'Write a time or a range of times, such as ts:>now-15m.', null),
    ('query.units_differ', 400, 'The bounds of a range have different units',
      'Write two numbers, two durations or two sizes.', null),
    ('query.any_takes_a_text', 400, 'any takes a text only',
      'Write any:"text", any:=exactly, any:i=exactly, any:w=word or any:~"regex".', null),
    ('query.not_a_network', 400, 'Not a network: %s',
      'Write address/bits, such as 10.0.0.0/8, or quote it to compare the text.', null),
    ('query.takes_no_test', 400, '%s takes no %s', 'Write %s:value. %s is for texts.', null),
    ('query.word_is_empty', 400, 'A word to look for is empty',
      'Write msg:w=error or msg:w="out of memory".', null),
    ('query.too_many_steps', 400,
      'The query is too complex: it takes more than 20000 steps to compile',
      'Leave terms or regular expressions out.', null),
    ('query.searched_texts_are_too_long', 400,
      'The query is too complex: the texts that it looks for inside others have together more '
        'than 512 characters', 'Shorten them: the beginning of a long message finds it too.', null),
    ('query.means_something_else', 400, 'Invalid p_query_dsl: %s',
      'Write %2$s, or quote the text if that is what is looked for.',
      'An alert rule, its preview, `delete_logs` and its dry run: the query has one of the '
        '`warnings` of a search.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_free (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  p_state := logloom_private.query_count_leaf(p_state, p_state.positions[p_state."at"]);
  p_state := logloom_private.query_spend(p_state, 1);
  p_state := logloom_private.query_warn_free(p_state);
  if p_state.texts[p_state."at"] = '*' then
    -- Every record, also one without a message: the counts answer it as the empty filter.
    p_state.node := '{"type": "all"}';
  else
    p_state := logloom_private.query_check_term(
      p_state, '{"field": "msg", "name": "msg"}',
      p_state.texts[p_state."at"], p_state.positions[p_state."at"]
    );
  end if;
  return logloom_private.query_go_on(p_state);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because service_role reads neither queue nor heartbeats
declare
  v_settings logloom_private.settings;
  v_queue logloom_private.queue_state;
  v_writer logloom_private.job_heartbeats;
  v_now timestamptz;
  v_today constant date := logloom_private.utc_day(now());
  v_queue_age interval;
  v_silence interval;
  v_current_exists constant boolean := logloom_private.partition_exists(v_today);
  v_next_exists constant boolean := logloom_private.partition_exists(v_today + 1);
  v_dead_letters bigint;
  v_queue_grade jsonb;
  v_writer_grade jsonb;
  v_partitions_grade jsonb;
  v_installation jsonb;
  v_alerts jsonb;
  v_jobs jsonb;
  v_sealing jsonb;
  v_pre_request constant jsonb := logloom_private.pre_request_health();
  v_is_restored constant boolean := logloom_private.is_restored();
begin
  select s.* into v_settings from logloom_private.settings s;
  v_queue := logloom_private.queue_state();
  select count(*) into v_dead_letters from logloom_private.dead_letters;
  -- What ingest ran in its stead counts as well.
  select h.* into v_writer
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer')
  order by h.last_succeeded_at <= clock_timestamp() desc nulls last, h.last_succeeded_at desc
  limit 1;
  -- After what it is compared with was read, so that no age is negative.
  v_now := clock_timestamp();
  v_queue_age := v_now - v_queue.oldest_received_at;
  -- A writer that never ran counts as silent since for ever.
  v_silence := logloom_private.silence_since(v_writer.last_succeeded_at, v_now);

  v_queue_grade := logloom_private.health_grade(
    logloom_private.age_reason(v_queue_age, v_settings.queue_unhealthy_age),
    nullif(
      concat_ws(
        '; ',
        case when v_queue_age <= v_settings.queue_unhealthy_age then
          logloom_private.age_reason(v_queue_age, v_settings.queue_degraded_age)
        end,
        case when v_queue.depth > v_settings.queue_degraded_events then format(
          '%s events are queued (limit %s)', v_queue.depth, v_settings.queue_degraded_events
        ) end
      ),
      ''
    )
  );
  v_writer_grade := logloom_private.health_grade(
    case when v_silence >= v_settings.writer_unhealthy_silence then
      logloom_private.silence_reason(
        'No run of the writer', v_silence, v_settings.writer_unhealthy_silence
      )
    end,
    case
      when v_silence >= v_settings.writer_degraded_silence
        and v_silence < v_settings.writer_unhealthy_silence
        then logloom_private.silence_reason(
          'No run of the writer', v_silence, v_settings.writer_degraded_silence
        )
    end
  );
  v_partitions_grade := logloom_private.health_grade(
    case when not v_current_exists then 'The partition of today is missing' end,
    case when not v_next_exists then 'The partition of tomorrow is missing' end
  );
  v_installation := logloom_private.health_grade(
    case when v_is_restored then
      'Restored from a dump and not repaired: see Backup and restore in docs/operations.md'
    end,
    null
  );
  v_alerts := logloom_private.alert_health(
    v_now, logloom_private.watermark(v_queue.oldest_received_at)
  );

  v_jobs := logloom_private.job_health(v_now);
  v_sealing := logloom_private.sealing_health(v_now);

  return logloom_private.with_health_endpoints(jsonb_build_object(
    'status', logloom_private.health_word(
      v_is_restored or 'unhealthy' in (
        v_queue_grade ->> 'status', v_writer_grade ->> 'status', v_partitions_grade ->> 'status'
      ),
      'degraded' in (
        v_queue_grade ->> 'status', v_writer_grade ->> 'status', v_partitions_grade ->> 'status',
        v_alerts ->> 'status', v_pre_request ->> 'status', v_sealing ->> 'status',
        case when exists (
          select from jsonb_each(v_jobs) j where j.value ->> 'status' = 'degraded'
        ) then 'degraded' end
      )
    ),
    'timestamp', v_now,
    'checks', jsonb_build_object(
      'queue', v_queue_grade || jsonb_build_object(
        'depth', v_queue.depth,
        'oldest_item_age_seconds', coalesce(round(extract(epoch from v_queue_age), 3), 0),
        'dead_letters', v_dead_letters
      ),
      'writer', v_writer_grade || jsonb_build_object(
        'last_run', v_writer.last_succeeded_at,
        'last_duration_ms', round(v_writer.last_duration_ms::numeric, 3),
        'seconds_since_run', case
          when isfinite(v_silence) then round(extract(epoch from v_silence), 3)
        end
      ),
      'partitions', v_partitions_grade || jsonb_build_object(
        'current_partition', logloom_private.partition_name(v_today),
        'current_exists', v_current_exists,
        'next_partition', logloom_private.partition_name(v_today + 1),
        'next_exists', v_next_exists
      ),
      'alerts', v_alerts,
      'sealing', v_sealing,
      'pre_request', v_pre_request,
      'installation', v_installation || jsonb_build_object(
        'state', case when v_is_restored then 'restored, not repaired' else 'installed' end
      ),
      'jobs', v_jobs
    )
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log (
  p_id uuid,
  p_ts timestamp with time zone
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_log public.logloom_log_record;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.require_parameter('p_id', p_id is null);
  -- Around it: a client's clock may hold less than microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id says when the event was received, and most events are received when they happen.
  v_received_at := logloom_private.from_microseconds(
    1000 * ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  foreach v_window in array v_windows loop
    v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, true, true);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  -- Then all that is sealed, of which the chunks know the ids, and the days of rows, newest first.
  v_window := tstzrange(logloom_private.kept_from(v_tenant_id), 'infinity');
  v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, false, true);
  if v_log.id is not null then
    return v_log;
  end if;
  foreach v_window in array logloom_private.search_parts(
    v_tenant_id, lower(v_window), upper(v_window), 'desc'
  )
  loop
    v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, true, false);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  perform logloom_private.refuse('search.log_not_found');
  return null;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log(p_id, p_ts);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_context (
  p_id     uuid,
  p_ts     timestamp with time zone,
  p_before integer,
  p_after  integer
)
  RETURNS SETOF public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because nobody but the search functions makes SQL over records
declare
  v_log public.logloom_log_record;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_before constant integer := coalesce(p_before, 20);
  v_after constant integer := coalesce(p_after, 20);
  v_max constant integer := (select s.list_limit_max from logloom_private.settings s) / 2 - 1;
begin
  if v_before not between 0 and v_max or v_after not between 0 and v_max then
    perform logloom_private.refuse('search.context_is_out_of_range', v_max::text);
  end if;
  v_log := logloom_private.read_log(p_id, p_ts);
  -- Half of what is left to each side, and a record at least.
  v_bytes := greatest((v_bytes - logloom_private.answered_bytes(array[v_log])) / 2, 1);
  return query
  select b.*
  from unnest(logloom_private.log_neighbours(v_log, v_before, 'desc', v_bytes)) b
  order by b.ts, b.id;
  return next v_log;
  return query
  select a.* from unnest(logloom_private.log_neighbours(v_log, v_after, 'asc', v_bytes)) a;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return query select r.* from logloom_private.read_log_context(p_id, p_ts, p_before, p_after) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_fields (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone
)
  RETURNS SETOF public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET work_mem TO '16MB'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  return query execute logloom_private.log_fields_sql(v_tenant_id, v_query, v_range);
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return query select r.* from logloom_private.read_log_fields(p_query_dsl, p_ts_from, p_ts_to) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_histogram (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_buckets   integer
)
  RETURNS public.logloom_log_histogram
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.logloom_log_bucket[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.histogram_seconds(
    v_range, logloom_private.require_buckets(p_buckets)
  );
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  execute 'select array('
    || logloom_private.log_histogram_sql(v_tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.logloom_log_histogram;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_histogram(p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_page (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_limit     integer,
  p_cursor    text,
  p_order     text
)
  RETURNS public.logloom_log_page
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit integer := logloom_private.page_limit(p_limit);
  v_order text := coalesce(p_order, 'desc');
  v_now timestamptz := now();
  v_from timestamptz := p_ts_from;
  v_to timestamptz := p_ts_to;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_left integer;
  v_after text[];
  v_page logloom_private.found_page;
  v_cursor text;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if v_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  if p_cursor is not null then
    v_after := logloom_private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
        || ' (\d{1,18}) (\d{1,18}) (\d{1,18})(?: (\d{1,6}))?$'
    );
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_from := coalesce(v_from, logloom_private.from_microseconds(v_after[4]::bigint));
    v_to := coalesce(v_to, logloom_private.from_microseconds(v_after[5]::bigint));
    v_now := logloom_private.from_microseconds(v_after[6]::bigint);
  end if;
  v_range := logloom_private.search_range(v_from, v_to);
  v_query := logloom_private.search_query(p_query_dsl, v_now, 'records');
  v_order := logloom_private.page_order(v_query.plan, p_order);
  if v_after[1] <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  -- What limit leaves to this page and those after it.
  v_left := coalesce(v_after[7]::integer, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := (select s.list_limit_max from logloom_private.settings s);
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_tenant_id, v_query, v_range, v_limit, v_order,
    logloom_private.from_microseconds(v_after[2]::bigint), v_after[3]::uuid
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor := logloom_private.encode_cursor(array[
      'page', v_order, logloom_private.to_microseconds(v_page.last_ts)::text,
      v_page.last_id::text, logloom_private.to_microseconds(lower(v_range))::text,
      logloom_private.to_microseconds(upper(v_range))::text,
      logloom_private.to_microseconds(v_now)::text, v_left::text
    ]);
  end if;
  return row(
    v_page.logs, v_cursor, lower(v_range), upper(v_range),
    logloom_private.query_warnings(v_query.warnings)
  )::public.logloom_log_page;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_page(
    p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_series (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_buckets   integer
)
  RETURNS public.logloom_log_series_answer
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_buckets integer;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_buckets := logloom_private.require_buckets(p_buckets);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'series');
  v_seconds := coalesce(
    (v_query.plan -> 'bucket')::bigint, logloom_private.histogram_seconds(v_range, v_buckets)
  );
  if extract(epoch from upper(v_range) - lower(v_range)) / v_seconds
    > (select s.search_buckets_max from logloom_private.settings s)
  then
    perform logloom_private.refuse_stage_bound(
      'by', (select s.search_buckets_max from logloom_private.settings s), 'buckets'
    );
  end if;
  if cardinality(v_query.by_sql) > 0 then
    v_groups := logloom_private.largest_groups(v_tenant_id, v_query, v_range);
  end if;
  execute 'with found (ts, series, value) as materialized ('
    || logloom_private.log_series_sql(v_tenant_id, v_query, v_range, v_seconds, v_groups)
    || ') '
    || $query$
      select array_agg(
        row(
          case when s.n is not null then jsonb_object($1::text[], s.texts) end, p.points
        )::public.logloom_log_series
        order by s.n nulls last
      )
      from (
        select (g.n - 1)::integer as n, array(select jsonb_array_elements_text(g.texts)) as texts
        from jsonb_array_elements($2) with ordinality g (texts, n)
        union all
        select null, null where exists (select from found f where f.series is null)
      ) s
      cross join lateral (
        select jsonb_agg(
          jsonb_build_array(
            to_char(b.ts at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            coalesce(f.value, $3)
          )
          order by b.ts
        ) as points
        from generate_series(
          date_bin($4, lower($5), 'epoch'),
          date_bin($4, upper($5) - interval '1 microsecond', 'epoch'),
          $4
        ) b (ts)
        left join found f on f.ts = b.ts and f.series is not distinct from s.n
      ) p
    $query$
  into v_series
  using
    v_query.by_fields, v_groups,
    case when logloom_private.stats_aggregates(v_query) -> 0 ->> 'kind'
      in ('count', 'rate', 'sum', 'count_distinct') then 0::double precision end,
    make_interval(secs => v_seconds), v_range;
  return row(
    v_seconds, coalesce(v_series, '{}'), logloom_private.query_warnings(v_query.warnings)
  )::public.logloom_log_series_answer;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_series(p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_stats (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_limit     integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.page_limit(p_limit);
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'rows');
  -- Values of groups may be long: rows end with max_page_bytes.
  return query
  select (r.row).*
  from (
    select
      s as row,
      sum(octet_length(to_json(s)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) as before
    from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, v_limit) s
  ) r
  where coalesce(r.before, 0) < (select t.max_page_bytes from logloom_private.settings t);
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_stats(p_query_dsl, p_ts_from, p_ts_to, p_limit) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_tail (
  p_query_dsl text,
  p_cursor    text,
  p_limit     integer,
  p_backlog   integer
)
  RETURNS public.logloom_log_tail
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET enable_seqscan TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.page_limit(p_limit);
  v_query logloom_private.compiled_query;
  v_last bigint;
  v_after text[];
  v_tail logloom_private.log_tail;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_backlog not between 0 and (select s.list_limit_max from logloom_private.settings s) then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range',
      (select s.list_limit_max from logloom_private.settings s)::text
    );
  end if;
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  select coalesce(max(a.arrival), 0) into v_last from logloom_private.log_arrivals a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Arrivals and records are of one snapshot: what is not here yet comes after this cursor.
    if p_backlog > 0 then
      execute 'select array(' || logloom_private.log_backlog_sql(v_tenant_id, v_query, p_backlog)
        || ')'
      into v_tail.logs;
    end if;
  else
    v_after := logloom_private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_tail.first := v_after[1];
    v_tail.id := v_after[2];
    if v_tail.first > 1 + (select q.last_value from logloom_private.arrival q) then
      perform logloom_private.refuse('search.cursor_lies_ahead');
    end if;
  end if;
  v_tail.logs := coalesce(v_tail.logs, '{}');
  v_tail.more := false;
  v_tail := logloom_private.advance_log_tail(v_tenant_id, v_query, v_limit, v_last, v_tail);
  if not v_tail.more then
    -- All of the last arrival was seen. The days of later ones may be gone.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_tail(p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_saved_search (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_limit     integer,
  p_cursor    text
)
  RETURNS public.logloom_saved_search_run
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because whether the query aggregates is for the compiler to say
declare
  v_query logloom_private.compiled_query;
  v_page public.logloom_log_page;
  v_range tstzrange;
  v_stats public.logloom_log_stat[];
begin
  v_query := logloom_private.search_query(p_query_dsl, now(), 'any');
  if not v_query.plan ?| array['aggregates', 'patterns'] then
    v_page := logloom_private.read_log_page(
      p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, null
    );
    return row(
      v_page.logs, v_page.next_cursor, v_page.ts_from, v_page.ts_to, null
    )::public.logloom_saved_search_run;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_stats := array(
    select s
      from logloom_private.read_log_stats(p_query_dsl, lower(v_range), upper(v_range), p_limit) s
  );
  return row(
    '{}'::public.logloom_log_record[], null, lower(v_range), upper(v_range), v_stats
  )::public.logloom_saved_search_run;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_saved_search(
    p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reads_again (
  p_error text
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_setting constant text := 'logloom.reads_again';
begin
  if p_error not like 'could not find valid entry for shard%' then
    return false;
  elsif current_setting(v_setting, true) = 'yes' then
    perform logloom_private.refuse_search_away();
  end if;
  perform set_config(v_setting, 'yes', true);
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.record_size_sql()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'coalesce(l.record_bytes, logloom_private.bytes_of_record(row(l.ts, l.received_at, '
    || 'l.arrival, l.id, l.tenant_id, l.level, l.msg, l.service, l.env, l.req_id, l.user_id, '
    || 'l.route, l.host, l.attrs, null)::logloom.logs))';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fitting_sql (
  p_columns text,
  p_others  text,
  p_rows    text,
  p_order   text,
  p_bytes   bigint,
  p_size    text   DEFAULT logloom_private.record_size_sql()
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_record constant text := 'row(' || p_columns || ')::public.logloom_log_record';
  v_window constant text := 'window before as (order by ' || p_order
    || ' rows between unbounded preceding and 1 preceding)';
begin
  -- First by the size that is known. Of what that leaves the attributes are opened: numbers take
  -- up to four times as much there as their text, and reading them more than that.
  return 'select case when not l.fits then null when l.size > '
    || (select s.max_page_bytes from logloom_private.settings s)
    || ' then logloom_private.cut_record(' || v_record || ', l.size) else ' || v_record
    || ' end as record' || p_others || ' '
    || 'from (select l.*, coalesce(sum(case when l.may_fit then '
    || 'greatest(l.size, 2 * pg_column_size(l.attrs #> ''{}'') - l.size) else l.size end) '
    || 'over before, 0) < '
    || p_bytes || ' as fits from (select l.*, coalesce(sum(l.size) over before, 0) < ' || p_bytes
    || ' as may_fit from (select l.*, ' || p_size || ' as size from (select l.* ' || p_rows
    || ') l) l ' || v_window || ') l ' || v_window || ') l order by ' || p_order;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_warnings (
  p_query logloom_private.compiled_query
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if jsonb_array_length(p_query.warnings) > 0 then
    perform logloom_private.refuse_at(
      (p_query.warnings -> 0 ->> 'position')::integer,
      'query.means_something_else',
      p_query.warnings -> 0 ->> 'message',
      p_query.warnings -> 0 ->> 'suggestion'
    );
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replace_webhook_secret (
  p_rule_id uuid
)
  RETURNS public.logloom_webhook_secret
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reaches the secrets
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_result public.logloom_webhook_secret;
begin
  perform from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  for no key update;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  insert into logloom_private.webhook_secrets as w (rule_id, secret)
  values (p_rule_id, logloom_private.new_webhook_secret())
  on conflict (rule_id) do update
  set previous_secret = w.secret,
    previous_valid_until = now() + (select s.webhook_secret_overlap
      from logloom_private.settings s),
    secret = excluded.secret
  returning w.rule_id, w.secret, w.previous_valid_until into v_result;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replay_dead_letters (
  p_limit integer DEFAULT 1000
)
  RETURNS logloom_private.replay_result
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_letter logloom_private.dead_letters;
  v_arrival bigint;
  v_result logloom_private.replay_result := row(0, 0);
begin
  -- The writer's lock: arrival must stay in commit order.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  v_arrival := nextval('logloom_private.arrival');
  for v_letter in
    select d.* from logloom_private.dead_letters d order by d.failed_at, d.id limit p_limit
  loop
    begin
      perform logloom_private.create_partition(logloom_private.utc_day(v_letter.ts));
      execute logloom_private.added_records_sql(
        $query$
          insert into logloom.logs as l (
            id, tenant_id, ts, received_at, arrival,
            level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
          )
          select
            ($1).id, ($1).tenant_id, ($1).ts, ($1).received_at, $2,
            ($1).level::logloom_private.log_level, ($1).msg, ($1).service, ($1).env,
            ($1).req_id, ($1).user_id, ($1).route, ($1).host,
            ($1).attrs::logloom_private.log_attrs,
            -- Anew: who mends a letter may have changed it.
            logloom_private.bytes_of_record(row(
              ($1).ts, ($1).received_at, $2, ($1).id, ($1).tenant_id, ($1).level, ($1).msg,
              ($1).service, ($1).env, ($1).req_id, ($1).user_id, ($1).route, ($1).host,
              ($1).attrs, null
            )::logloom.logs)
        $query$
      )
      using v_letter, v_arrival;
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_confirmation (
  p_rule      logloom.alert_rules,
  p_is_repeat boolean
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_address constant text := logloom_private.channel_address('email', p_rule.notification_config);
  v_mailbox constant text := lower(v_address);
  v_settings logloom_private.settings;
  v_codes integer;
  v_codes_for_address integer;
  v_last_at timestamptz;
begin
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(p_rule.tenant_id)
  );
  select s.* into v_settings from logloom_private.settings s;
  select
    count(*), count(*) filter (where lower(n.address) = v_mailbox),
    max(n.created_at) filter (where lower(n.address) = v_mailbox)
  into v_codes, v_codes_for_address, v_last_at
  from logloom_private.notifications n
  where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation'
    and n.created_at > now() - v_settings.confirmation_lifetime;
  -- One code for all rules with the address; another one is for who asks for it.
  if exists (
    select
    from logloom_private.notifications n
    where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation' and n.status = 'pending'
      and n.created_at > now() - v_settings.confirmation_lifetime
      and lower(n.address) = v_mailbox
  ) or not p_is_repeat and exists (
    select
    from logloom_private.notification_addresses a
    where a.tenant_id = p_rule.tenant_id and a.mailbox = v_mailbox
      and a.code_expires_at > now() and a.tries < v_settings.confirmation_tries
  ) or v_last_at > now() - v_settings.confirmation_interval then
    return 'The address is not confirmed: confirm_alert_address takes the code that is '
      'mailed to it';
  elsif v_codes >= v_settings.confirmation_codes_per_tenant
    or v_codes_for_address >= v_settings.confirmation_codes_per_address
  then
    return 'The address is not confirmed, and enough codes were mailed for today';
  end if;
  -- The code itself is made when the mail is.
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, 'confirmation', 'email', v_address,
    '{"type": "address.confirmation"}', now() + v_settings.notification_lifetime
  );
  return 'The address is not confirmed: confirm_alert_address takes the code that is '
    'mailed to it';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_deletion (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_dry_run   boolean
)
  RETURNS logloom.retention_runs
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles neither compile queries nor write runs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_now constant timestamptz := clock_timestamp();
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_run logloom.retention_runs;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  if p_dry_run then
    -- It reads records as a search does.
    perform logloom_private.take_search_slot(v_tenant_id);
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query := logloom_private.search_query(p_query_dsl, v_now, 'filter');
  if v_query.blank then
    perform logloom_private.refuse('usage.deletion_query_is_blank');
  end if;
  perform logloom_private.refuse_warnings(v_query);
  perform logloom_private.provision_current_tenant();
  if not p_dry_run then
    perform logloom_private.require_room_for_deletion(v_tenant_id);
  end if;
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  values (
    v_tenant_id, 'erasure', 'queued', logloom_private.actor(), v_now, p_query_dsl,
    lower(v_range), upper(v_range), p_dry_run
  )
  returning * into v_run;
  if p_dry_run then
    execute 'select (select count(*) ' || logloom_private.rows_sql(
        v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.filter, '', p_expired => true
      )
      || ') + coalesce((select sum(c.events)::bigint from logloom_private.sealed_counts('
      || '$1, $2, $3, $4, $5) c), 0)'
    into v_run.records
    using v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.tree, v_query.filter;
    update logloom.retention_runs r
    set status = 'done', records = v_run.records, finished_at = clock_timestamp()
    where r.run_id = v_run.run_id
    returning * into v_run;
    -- Who looks again and again fills no disk with that.
    delete from logloom.retention_runs r
    where r.run_id in (
      select o.run_id
      from logloom.retention_runs o
      where o.tenant_id = v_tenant_id and o.dry_run
      order by o.requested_at desc, o.run_id desc
      offset (select s.dry_runs_kept from logloom_private.settings s)
    );
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, v_run.requested_by, 'logs.deletion_requested', v_run.run_id::text,
    jsonb_build_object(
      'query_dsl', v_run.query_dsl, 'ts_from', v_run.ts_from, 'ts_to', v_run.ts_to,
      'dry_run', v_run.dry_run
    )
  );
  return v_run;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_lasting_user (
  p_claims jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if coalesce(p_claims -> 'is_anonymous', 'false') not in ('false', 'null')
    and not (select s.tenants_by_anonymous_users from logloom_private.settings s)
  then
    perform logloom_private.refuse('tenants.not_made_by_anonymous_users');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_room_for_alert_rule (
  p_tenant_id text
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role may hold a tenant, and a plan counts what a colleague keeps private
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  perform logloom_private.refuse_beyond_plan(
    v_tenant_id, 'alerts', logloom_private.count_alert_rules(v_tenant_id)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_room_for_api_key (
  p_tenant_id text,
  p_times     integer
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role may hold a tenant or delete keys
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_api_keys;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  if (
    select count(*) from logloom.api_keys k
    where k.tenant_id = v_tenant_id
      and logloom_private.api_key_status(k.revoked_at, k.expires_at) = 'active'
  ) >= p_times * v_max then
    perform logloom_private.refuse('api_keys.no_room', v_max::text);
  end if;
  -- Of the others as many are shown as may be alive.
  delete from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id in (
    select o.key_id
    from logloom.api_keys o
    where o.tenant_id = v_tenant_id
      and logloom_private.api_key_status(o.revoked_at, o.expires_at) <> 'active'
    order by coalesce(o.revoked_at, o.expires_at) desc, o.key_id
    offset v_max
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_room_for_saved_search (
  p_tenant_id text
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role may hold a tenant, and a plan counts what a colleague keeps private
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  perform logloom_private.refuse_beyond_plan(
    v_tenant_id, 'saved_searches', logloom_private.count_saved_searches(v_tenant_id)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_writing_client (
  p_claims jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the settings
begin
  if p_claims ->> 'client_id' is not null and not exists (
    select
    from logloom_private.settings s
    where p_claims ->> 'client_id' = any (s.writing_clients)
  ) then
    perform logloom_private.refuse('callers.client_may_only_read');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.resolve_tenant (
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_claims jsonb;
  v_tenant_id text;
begin
  if logloom_private.is_service_role() then
    v_claims := logloom_private.claims();
    -- No claims: not a request, but somebody at the database.
    if not logloom_private.service_token_is_valid(v_claims) and v_claims is not null then
      perform logloom_private.refuse('callers.not_known');
    end if;
    if p_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_must_be_named');
    end if;
    v_tenant_id := logloom_private.usable_tenant_id(p_tenant_id);
    if v_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_is_invalid');
    end if;
    if logloom_private.is_being_deleted(v_tenant_id) then
      perform logloom_private.refuse('tenants.being_deleted');
    end if;
    return v_tenant_id;
  end if;

  v_tenant_id := logloom_private.current_tenant_id();
  if v_tenant_id is null then
    perform logloom_private.refuse('callers.tenant_is_missing');
  end if;
  if p_tenant_id <> v_tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.resolve_tenant_to_change (
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.require_writing_client(logloom_private.claims());
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rows_in_turn (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_filter    text,
  p_reads     text,
  p_order     text,
  p_limit     integer,
  p_expired   boolean,
  p_bytes     bigint                   DEFAULT NULL::bigint
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_columns constant text := logloom_private.copied_columns_sql(
    logloom_private.fields_read(p_reads), p_bytes is not null
  );
  v_rows text;
  v_part tstzrange;
  v_found bigint;
  v_left bigint := p_limit;
begin
  foreach v_part in array logloom_private.search_parts(
    p_tenant_id, p_from, p_to, p_order, p_expired
  )
  loop
    begin
      v_rows := logloom_private.tenant_rows_sql(
        p_tenant_id, lower(v_part), upper(v_part), p_filter, p_expired => p_expired
      ) || case when p_limit is not null then format(
        ' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, v_left
      ) else '' end;
      if p_bytes is not null then
        v_rows := logloom_private.sized_rows_sql(
          v_rows, format('l.ts %1$s, l.id %1$s', p_order), p_bytes
        );
      end if;
      return query execute 'select ' || v_columns || ' ' || v_rows;
      get diagnostics v_found = row_count;
      raise sqlstate 'LL002';
    exception when sqlstate 'LL002' then
      null;
    end;
    v_left := v_left - v_found;
    exit when v_left <= 0;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rows_sql (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_filter    text,
  p_reads     text,
  p_order     text                     DEFAULT 'desc'::text,
  p_limit     integer                  DEFAULT NULL::integer,
  p_expired   boolean                  DEFAULT false,
  p_bytes     bigint                   DEFAULT NULL::bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from timestamptz := p_from;
begin
  if not p_expired then
    v_from := logloom_private.kept_since(p_tenant_id, v_from);
  end if;
  if logloom_private.opens_many_days(p_tenant_id, v_from, p_to) is not true then
    return logloom_private.tenant_rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_expired => p_expired
    );
  end if;
  return 'from logloom_private.rows_in_turn(' || format(
    '%L, %L, %L, %L, %L, %L, %L, %L, %L',
    p_tenant_id, p_from, p_to, p_filter, p_reads, p_order, p_limit, p_expired, p_bytes
  ) || ') l where true';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.saved_searches_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('saved_searches.saved_searches_name_is_valid', 400,
      'Invalid p_name: 1 to 200 characters after trimming', 'Name the search after what it finds.',
      null),
    ('saved_searches.saved_searches_description_is_valid', 400,
      'Invalid p_description: at most 2000 characters', 'Shorten it.', null),
    ('saved_searches.saved_searches_category_is_valid', 400,
      'Invalid p_category: at most 100 characters', 'Shorten it.', null),
    ('saved_searches.saved_searches_tags_are_valid', 400,
      'Invalid p_tags: at most 20 tags of 1 to 50 characters each', 'Send a flat array of texts.',
      null),
    ('saved_searches.query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      '* finds every record.', null),
    ('saved_searches.not_its_creator', 403, 'Only its creator may change or delete a saved search',
      'Save it under a name of your own with create_saved_search.',
      'It is a colleague''s, shared.'),
    ('saved_searches.not_found', 404, 'Saved search not found',
      'list_saved_searches shows those that you can read.',
      'It is not there, another tenant''s, or a colleague''s private one.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.schedule_jobs()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_job record;
begin
  for v_job in
    select
      'logloom_' || j.name as name,
      j.schedule,
      coalesce(
        j.command,
        format('call logloom_private.run_job(%L, %L)', j.name, 'logloom_private.' || j.name || '()')
      ) as command
    from (
      values
        ('write_logs', '1 second', 'call logloom_private.write_logs()'),
        ('compact_log_counts', '20 seconds', null),
        ('maintain_partitions', '7 * * * *', null),
        ('purge_job_history', '*/10 * * * *', null),
        -- Once a day: it goes on every minute until the day's work is done, then returns at once.
        ('run_retention', '* * * * *', 'call logloom_private.run_retention()'),
        (
          'run_deletions', '* * * * *',
          'call logloom_private.run_job(''run_deletions'', ''logloom_private.run_deletion_step()'')'
        ),
        (
          'seal_logs', '* * * * *',
          'call logloom_private.run_job(''seal_logs'', ''logloom_private.seal_step()'')'
        ),
        ('purge_audit_events', '41 * * * *', null),
        ('purge_alert_history', '47 * * * *', null),
        ('purge_rate_buckets', '43 * * * *', null),
        ('purge_idempotency_keys', '13 * * * *', null),
        -- More often than once a minute: a round begins when the watermark has passed a minute.
        ('evaluate_alerts', '3 seconds', 'call logloom_private.evaluate_alerts()'),
        ('send_notifications', '2 seconds', null),
        ('purge_notifications', '23 4 * * *', null)
    ) j (name, schedule, command)
  loop
    -- pg_cron takes a second job of a name for a change of the first one.
    if exists (
      select
      from cron.job c
      where c.jobname = v_job.name
        and (c.username = current_user and strpos(c.command, 'logloom_private.') > 0) is not true
    ) then
      raise exception using
        errcode = 'duplicate_object',
        message = format('pg_cron has a job %s that is not Logloom''s', quote_ident(v_job.name)),
        hint = 'Schedule it under another name and remove this one, then try again.';
    end if;
    perform cron.schedule(v_job.name, v_job.schedule, v_job.command);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.seal_chunk (
  p_tenant_id text,
  p_days      date[]
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_day date;
  v_end logloom_private.log_key;
  v_range text;
  v_with text := '';
  v_read text := '';
  v_removed text := '';
  v_chunk_id bigint;
  v_records integer;
begin
  foreach v_day in array p_days loop
    -- A chunk has one record at least, however large that is.
    v_end := logloom_private.chunk_end(
      p_tenant_id, v_day, cardinality(p_days), (v_with = '')::integer
    );
    continue when v_end.ts is null;
    v_range := format(
      'from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
        || 'and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)',
      p_tenant_id, logloom_private.day_start(v_day), v_end.ts, v_end.ts, v_end.id
    );
    -- Not by removed_records_sql: the counts go on counting what is sealed. One statement, which
    -- reads what it deletes: faster than to have it returned.
    v_with := v_with || format(
      'd%1$s as (delete %2$s returning 1), ', to_char(v_day, 'YYYYMMDD'), v_range
    );
    v_read := v_read || format(
      '%s select l.* %s', case when v_read <> '' then ' union all' else '' end, v_range
    );
    v_removed := v_removed || format(
      '%s select from d%s',
      case when v_removed <> '' then ' union all' else '' end, to_char(v_day, 'YYYYMMDD')
    );
  end loop;
  if v_with = '' then
    return 0;
  end if;
  v_chunk_id := logloom_private.encode_chunk(
    p_tenant_id,
    v_with || format('removed as materialized (%s), s as (%s)', v_removed, v_read),
    p_removes => true
  );
  select c.records into v_records
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk_id;
  if v_records > 0 then
    insert into logloom_private.sealing_days as d (day, removed_records, removed_by)
    select d.day, v_records, pg_current_xact_id()
    from unnest(p_days) d (day)
    on conflict (day) do update
    set removed_records = d.removed_records + excluded.removed_records,
      removed_by = excluded.removed_by;
  end if;
  return coalesce(v_records, 0);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_arrivals (
  p_tenant_id text,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_from      timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_limit     integer,
  p_bytes     bigint
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_chunk logloom_private.sealed_chunks;
  v_arrivals bigint[];
  v_positions integer[];
  v_batches integer[];
  v_next integer[];
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.last_arrival >= p_first and c.first_arrival <= p_last
      and c.last_ts >= p_from
  loop
    v_arrivals := v_chunk.batch_arrivals;
    continue when not exists (
      select from unnest(v_arrivals) a where a between p_first and p_last
    );
    v_positions := logloom_private.bit_positions(
      logloom_private.chunk_bits(
        v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, 'infinity'
      )
    );
    continue when v_positions = '{}';
    v_batches := logloom_private.chunk_batches(v_chunk, v_positions);
    v_positions := array(
      select u.position
      from unnest(
        v_positions, v_batches, logloom_private.chunk_ids(v_chunk, v_positions, v_batches)
      ) u (position, batch, id)
      where v_arrivals[u.batch] between p_first and p_last
        and (p_id is null or v_arrivals[u.batch] > p_first or u.id > p_id)
      order by v_arrivals[u.batch], u.id
      limit p_limit
    );
    continue when v_positions = '{}';
    select
      array_agg(f.position order by f.position) filter (where f.before < p_bytes),
      (array_agg(f.position order by f.n) filter (where f.before >= p_bytes))[1:1]
    into v_positions, v_next
    from (
      select
        o.position, o.n,
        coalesce(
          sum(s.size) over (order by o.n rows between unbounded preceding and 1 preceding), 0
        ) as before
      from unnest(v_positions) with ordinality o (position, n)
      join (
        select a.positions[i] as position, a.sizes[i] as size
        from (
          select p.positions, logloom_private.chunk_sizes(v_chunk, p.positions) as sizes
          from (select array(select unnest(v_positions) order by 1) as positions) p
          offset 0
        ) a, generate_subscripts(a.positions, 1) i
      ) s on s.position = o.position
    ) f;
    return query
    select r.* from logloom_private.sealed_records(v_chunk, v_positions, null, null) r;
    if v_next is not null then
      return query
      select r.*
      from logloom_private.sealed_records(
        v_chunk, v_next, array['ts', 'id', 'arrival', 'record_bytes'], '{}'
      ) r;
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_page (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_reads     text                     DEFAULT NULL::text,
  p_bytes     bigint                   DEFAULT NULL::bigint
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_shown constant text[] := logloom_private.fields_read(p_reads || ' l.ts l.id l.record_bytes');
  v_shown_keys constant text[] := logloom_private.keys_read(p_reads);
  -- Null: all of the range.
  v_candidates constant bigint[] := case
    when logloom_private.needed_leaf(p_tree) is not null
      then array(select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree))
  end;
  -- Not again where it found too few; of many, deciding for all is cheaper.
  v_tries boolean := p_limit <= 250;
  v_chunks refcursor;
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
  v_positions integer[];
  v_times timestamptz[];
  v_sizes integer[];
  v_best timestamptz[] := '{}';
  v_best_sizes integer[] := '{}';
  v_edge timestamptz;
  v_next integer[];
  v_is_large boolean;
  v_has_large boolean := false;
begin
  -- Cursors, which are planned to give the first of many chunks soon.
  if v_is_descending then
    open v_chunks for
      select c.*
      from logloom_private.sealed_chunks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and (v_candidates is null or c.chunk_id = any(v_candidates))
      order by c.last_ts desc;
  else
    open v_chunks for
      select c.*
      from logloom_private.sealed_chunks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and (v_candidates is null or c.chunk_id = any(v_candidates))
      order by c.first_ts;
  end if;
  loop
    fetch v_chunks into v_chunk;
    exit when not found;
    -- The page is full, and nothing of this chunk and of those after it can come before its end.
    exit when case when v_is_descending then v_chunk.last_ts < v_edge
      else v_chunk.first_ts > v_edge end;
    -- Null: all of them.
    v_positions := null;
    if p_tree ->> 'type' = 'all' then
      perform logloom_private.take_turn();
    elsif v_tries then
      v_positions := logloom_private.tried_positions(
        v_chunk, p_tree, p_filter, v_fields, v_keys, p_limit, v_is_descending, p_ts, p_from, p_to
      );
      v_tries := v_positions is not null;
    end if;
    if p_tree ->> 'type' is distinct from 'all' and v_positions is null then
      v_bits := logloom_private.chunk_bits(
        v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
      );
      continue when bit_count(v_bits) = 0;
      if bit_count(v_bits) < v_chunk.records then
        v_positions := logloom_private.bit_positions(v_bits);
      end if;
    end if;
    continue when v_positions = '{}';
    v_positions := logloom_private.first_positions(
      v_chunk, v_positions, p_limit, v_is_descending, p_ts, p_from, p_to
    );
    continue when v_positions = '{}';
    v_times := logloom_private.chunk_times(v_chunk, v_positions);
    -- Records of the page before, of the same ts as its last, are more than p_limit.
    v_is_large := p_bytes <= cardinality(v_positions)::bigint
      * logloom_private.largest_record(v_chunk);
    v_has_large := v_has_large or coalesce(v_is_large, false);
    v_sizes := null;
    if not v_has_large then
      v_best := array(
        select t
        from unnest(v_best || v_times) t
        where p_ts is null or t <> p_ts
        order by
          case when v_is_descending then t end desc,
          case when not v_is_descending then t end
        limit p_limit
      );
      v_edge := v_best[p_limit];
    else
      if v_is_large then
        v_sizes := logloom_private.chunk_sizes(v_chunk, v_positions);
      end if;
      -- A page ends before the first record that finds it full, whatever the ids of one time are.
      select
        array_agg(b.ts), array_agg(b.size),
        (
          array_agg(b.ts)
          filter (where b.n = p_limit or b.before >= p_bytes and b.ts <> b.ts_before)
        )[1]
      into v_best, v_best_sizes, v_edge
      from (
        select g.*, lag(g.through) over w as before, lag(g.ts) over w as ts_before
        from (
          select
            o.ts, o.size, row_number() over (rows unbounded preceding) as n,
            -- Of one time all.
            sum(o.size) over (
              order by case when v_is_descending then o.ts end desc, o.ts
            ) as through
          from (
            select u.ts, coalesce(u.size, 0) as size
            from (
              select unnest(v_best) as ts, unnest(v_best_sizes) as size
              union all
              select unnest(v_times), unnest(v_sizes)
            ) u
            where p_ts is null or u.ts <> p_ts
            order by
              case when v_is_descending then u.ts end desc,
              case when not v_is_descending then u.ts end
            limit p_limit
          ) o
        ) g
        window w as (order by g.n)
      ) b;
    end if;
    select array_agg(p.position order by p.n), array_agg(p.size order by p.n)
    into v_positions, v_sizes
    from unnest(v_positions, v_times, v_sizes) with ordinality p (position, ts, size, n)
    where v_edge is null or case when v_is_descending then p.ts >= v_edge else p.ts <= v_edge end;
    continue when v_positions is null;
    v_next := null;
    -- Of more than a page holds no more is read.
    if (select sum(z) from unnest(v_sizes) z) >= p_bytes then
      v_times := logloom_private.chunk_times(v_chunk, v_positions);
      select
        array_agg(f.position order by f.position) filter (where f.before < p_bytes),
        (array_agg(f.position order by f.n) filter (where f.before >= p_bytes))[1:1]
      into v_positions, v_next
      from (
        select
          o.position, row_number() over w as n,
          sum(coalesce(o.size, 0)) over w - coalesce(o.size, 0) as before
        from (
          select u.position, u.ts, u.id, u.size
          from unnest(
            v_positions, v_times,
            logloom_private.chunk_ids(
              v_chunk, v_positions, logloom_private.chunk_batches(v_chunk, v_positions)
            ),
            v_sizes
          ) u (position, ts, id, size)
          where p_ts is null
            or case when v_is_descending then (u.ts, u.id) < (p_ts, p_id)
              else (u.ts, u.id) > (p_ts, p_id) end
        ) o
        window w as (
          order by
            case when v_is_descending then o.ts end desc,
            case when v_is_descending then o.id end desc, o.ts, o.id
          rows unbounded preceding
        )
      ) f;
    end if;
    if v_next is not null then
      return query
      select r.*
      from logloom_private.sealed_records(
        v_chunk, v_next, array['ts', 'id', 'record_bytes'], '{}'
      ) r;
    end if;
    continue when v_positions is null;
    return query
    select r.*
    from logloom_private.sealed_records(
      v_chunk, case when cardinality(v_positions) < v_chunk.records then v_positions end,
      v_shown, v_shown_keys
    ) r
    where p_ts is null
      or case when v_is_descending then (r.ts, r.id) < (p_ts, p_id)
        else (r.ts, r.id) > (p_ts, p_id) end;
  end loop;
  close v_chunks;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_records (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_fields    text[],
  p_keys      text[]
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_chunk.records);
  v_batch_received_at timestamptz[] := p_chunk.batch_received_at;
  v_batch_arrivals bigint[] := p_chunk.batch_arrivals;
  v_ts timestamptz[];
  v_batches integer[];
  v_ids uuid[];
  v_services text[];
  v_levels text[];
  v_messages text[];
  v_texts text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_record_bytes integer[];
  v_attributes jsonb[];
  v_column logloom_private.sealed_columns;
  v_lower integer;
  v_upper integer;
begin
  if v_records = 0 then
    return;
  end if;
  if p_fields is null or 'ts' = any(p_fields) then
    v_ts := logloom_private.chunk_times(p_chunk, p_positions);
  end if;
  if p_fields is null or p_fields && array['id', 'received_at', 'arrival'] then
    v_batches := logloom_private.chunk_batches(p_chunk, p_positions);
    v_ids := logloom_private.chunk_ids(p_chunk, p_positions, v_batches);
  end if;
  if p_fields is null or p_fields && array['service', 'level'] then
    if p_positions is null then
      v_services := logloom_private.section_texts(p_chunk, p_chunk.section_services);
      v_levels := logloom_private.section_texts(p_chunk, p_chunk.section_levels);
    else
      with s as (
        select
          array_agg(x.start order by x.n) as starts
        from (
          select u.n, sum(u.records) over (order by u.n) - u.records + 1 as start
          from unnest(p_chunk.section_records) with ordinality u (records, n)
        ) x
      )
      select
        array_agg((p_chunk.section_services)[width_bucket(p.position, s.starts)] order by p.n),
        array_agg((p_chunk.section_levels)[width_bucket(p.position, s.starts)] order by p.n)
      into v_services, v_levels
      from unnest(p_positions) with ordinality p (position, n), s;
    end if;
  end if;
  if p_fields is null or 'msg' = any(p_fields) then
    v_messages := logloom_private.chunk_messages(p_chunk, p_positions);
  end if;
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and c.name in ('env', 'req_id', 'user_id', 'route', 'host', 'record_bytes')
      and (p_fields is null or c.name = any(p_fields))
  loop
    v_lower := v_column.first;
    v_upper := v_column.last;
    if p_positions is not null then
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
    end if;
    continue when v_lower > v_upper;
    v_texts := array_fill(null::text, array[v_lower - 1])
      || logloom_private.column_texts(
        v_column, case when p_positions is not null then p_positions[v_lower:v_upper] end
      );
    case v_column.name
      when 'env' then v_env := v_texts;
      when 'req_id' then v_req_id := v_texts;
      when 'user_id' then v_user_id := v_texts;
      when 'route' then v_route := v_texts;
      when 'host' then v_host := v_texts;
      when 'record_bytes' then v_record_bytes := v_texts::integer[];
    end case;
  end loop;
  if p_fields is null or 'attrs' = any(p_fields) then
    v_attributes := logloom_private.chunk_attributes(p_chunk, p_positions, p_keys);
  end if;
  return query
  select
    r.ts, v_batch_received_at[r.batch], v_batch_arrivals[r.batch], r.id, p_chunk.tenant_id,
    r.level, r.msg, r.service, r.env, r.req_id, r.user_id, r.route, r.host, r.attrs,
    r.record_bytes
  from unnest(
    -- As many rows as records, whatever of them is read.
    case when v_ts is null then array_fill(1, array[v_records]) end,
    v_ts, v_batches, v_ids, v_levels, v_messages, v_services, v_env, v_req_id, v_user_id, v_route,
    v_host, v_attributes, v_record_bytes
  ) with ordinality r (
    one, ts, batch, id, level, msg, service, env, req_id, user_id, route, host, attrs,
    record_bytes, n
  )
  order by r.n;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealing_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_days_due bigint;
  v_differences bigint;
  v_last_chunk timestamptz;
begin
  select count(*) into v_days_due
  from logloom_private.settings s
  cross join unnest(logloom_private.partition_days()) p (day)
  left join logloom_private.sealing_days d on d.day = p.day
  where logloom_private.day_start(p.day + 1) <= p_now - s.seal_after
    and (d.checked_at is null or d.checked_through is not null);
  select coalesce(sum(d.differences), 0) into v_differences from logloom_private.sealing_days d;
  -- Health must answer while a node is away, whatever that does to who asks it.
  if not logloom_private.is_spread() then
    select c.sealed_at into v_last_chunk
    from logloom_private.sealed_chunks c
    order by c.chunk_id desc
    limit 1;
  end if;
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s chunks were not read back as they should be: logloom_private.sealing_days has the error',
      v_differences
    ) end
  ) || jsonb_build_object(
    'days_due', v_days_due,
    'last_chunk', v_last_chunk,
    'differences', v_differences
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.send_notifications()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_endpoint logloom_private.notify_endpoint;
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if not exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) then
    return;
  end if;
  select e.* into v_endpoint from logloom_private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.notify_endpoint has no url or no secret';
  end if;
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using v_endpoint.url,
      jsonb_build_object(
        'Content-Type', 'application/json', 'X-Logloom-Notify-Secret', v_endpoint.secret
      );
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', v_endpoint.url,
      array[extensions.http_header('X-Logloom-Notify-Secret', v_endpoint.secret)],
      'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function logloom-notify answered %', v_status;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sent_claims (
  p_authorization text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_part constant text := split_part(p_authorization, '.', 2);
  v_text text;
begin
  if split_part(p_authorization, '.', 3) = '' or split_part(p_authorization, '.', 4) <> '' then
    return null;
  end if;
  v_text := convert_from(
    decode(
      rpad(translate(v_part, '-_', '+/'), (length(v_part) + 3) / 4 * 4, '='), 'base64'
    ),
    'UTF8'
  );
  -- Of two members of one name PostgREST takes the first, others the last.
  if v_text is json object with unique keys then
    return v_text::jsonb;
  end if;
  return '{}';
exception when data_exception or character_not_in_repertoire then
  return '{}';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.service_operations()
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array[
    'claim_alert_notifications',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'run_writer',
    'settle_alert_notification'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.service_token_is_valid (
  p_claims jsonb
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the settings
begin
  return logloom_private.token_is_current(
    p_claims, (select s.token_leeway from logloom_private.settings s)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.short_number (
  p_number numeric
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_number constant numeric := trim_scale(p_number);
  v_text constant text := v_number::text;
  v_whole text;
  v_digits text;
  v_exponent integer;
begin
  if octet_length(v_text) <= 40 then
    return to_jsonb(v_number);
  end if;
  v_whole := ltrim(split_part(v_text, '.', 1), '-0');
  v_digits := ltrim(v_whole || split_part(v_text, '.', 2), '0');
  v_exponent := case
    when v_whole <> '' then octet_length(v_whole)
    else octet_length(v_digits) - octet_length(split_part(v_text, '.', 2))
  end - 1;
  v_digits := rtrim(v_digits, '0');
  v_digits := case when v_number < 0 then '-' else '' end || left(v_digits, 1)
    || case when octet_length(v_digits) > 1 then '.' || substr(v_digits, 2) else '' end
    || case when v_exponent < 0 then 'e' else 'e+' end || v_exponent;
  return case when octet_length(v_digits) < octet_length(v_text) then to_jsonb(v_digits)
    else to_jsonb(v_number) end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.silence_reason (
  p_what    text,
  p_silence interval,
  p_limit   interval
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case
    when not isfinite(p_silence) then format('%s ever succeeded by this clock', p_what)
    else format(
      '%s succeeded for %s s (limit %s s)', p_what, round(extract(epoch from p_silence)),
      round(extract(epoch from p_limit), 3)::double precision
    )
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sized_columns_sql()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'l.ts, l.received_at, l.arrival, l.id, l.tenant_id, l.level, l.msg, l.service, l.env, '
    || 'l.req_id, l.user_id, l.route, l.host, l.attrs, '
    || 'coalesce(l.record_bytes, logloom_private.bytes_of_record(l))';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sized_rows_sql (
  p_rows  text,
  p_order text,
  p_bytes bigint,
  p_size  text   DEFAULT logloom_private.record_size_sql()
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'from (select l.*, coalesce(sum(l.size) over (order by ' || p_order
    || ' rows between unbounded preceding and 1 preceding), 0) < ' || p_bytes
    || ' as fits from (select l.*, ' || p_size || ' as size from (select l.* ' || p_rows
    || ') l) l) l';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.small_sql (
  p_columns text,
  p_others  text,
  p_rows    text,
  p_limit   integer,
  p_bytes   bigint
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format(
    'select case when l.record_bytes <= %s then row(%s)::public.logloom_log_record end as record'
      || '%s %s',
    least(p_bytes / greatest(p_limit, 1), 65536), p_columns, p_others, p_rows
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stats_source (
  p_tenant_id   text,
  p_query       logloom_private.compiled_query,
  p_from        timestamp with time zone,
  p_to          timestamp with time zone,
  p_only_counts boolean,
  p_bucket      bigint,
  p_reads       text
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_sealed boolean;
  v_rows_from timestamptz := p_from;
  v_rows text;
  v_key text;
begin
  if p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    p_query.aggregate := 'count';
    v_is_sealed := p_bucket is null and p_query.by_fields <@ array['level', 'service']
      and logloom_private.reads_sealed(p_tenant_id, p_from, p_to);
    -- Over days without rows chunks count quicker than minutes do.
    if v_is_sealed and p_to - p_from >= interval '1 day' then
      v_rows_from := logloom_private.first_rows(p_tenant_id, p_from, p_to);
    end if;
    if p_bucket is null or p_bucket % 60 = 0 then
      v_rows := logloom_private.counted_rows_sql(p_tenant_id, p_query, v_rows_from, p_to);
    end if;
    if v_rows is not null and p_from < v_rows_from then
      v_rows := 'from (select l.level, l.service, l.events ' || v_rows || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, p_from, v_rows_from) || ') l';
    elsif v_rows is null and v_is_sealed then
      v_rows := 'from (select l.level, l.service, 1::bigint as events '
        || logloom_private.rows_sql(
          p_tenant_id, p_from, p_to, p_query.filter, 'l.level l.service'
        )
        || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, p_from, p_to) || ') l';
    end if;
    if v_rows is not null then
      return (v_rows, 'coalesce(sum(l.events), 0)::double precision', null, null)
        ::logloom_private.counted_source;
    end if;
  end if;
  v_key := logloom_private.only_number(p_query);
  if v_key is not null and p_bucket is null
    and logloom_private.reads_sealed(p_tenant_id, p_from, p_to)
  then
    return logloom_private.numbers_source(p_tenant_id, p_query, p_from, p_to, v_key);
  end if;
  -- Counting a column: what is sorted to be grouped has more than the one that it is grouped by,
  -- and of one alone PostgreSQL 17 does not count the memory.
  return (
    logloom_private.staged_sql(p_query, logloom_private.records_sql(
      p_tenant_id, p_query, p_from, p_to,
      case when p_query.plan ? 'rows' then null else p_reads end
    )),
    'count(l.tenant_id)::double precision', null, null
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenants_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('tenants.id_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      'Send a short name, such as that of your company.',
      '`create_tenant`: it cannot be a tenant''s id.'),
    ('tenants.role_is_unknown', 400, 'Invalid p_role: member, admin or owner',
      'docs/identity.md says what each may do.', 'There is no other role.'),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of their tokens.', 'It cannot be the `sub` of a token.'),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', 'It cannot be an email address.'),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'They sign up first, and confirm the address.', 'Nobody of Supabase Auth has confirmed it.'),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no users of Supabase Auth to look for by p_email alone.',
      'Without Supabase Auth, `p_email` alone does not say who it is.'),
    ('tenants.already_a_member', 400, 'They belong to the tenant already',
      'set_tenant_member_role changes what they may do.', '`add_tenant_member` of a member.'),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'From the first member on, nobody else belongs to the tenant.',
      '`service_role` adds the first one.'),
    ('tenants.last_owner_stays', 400, 'The last owner stays an owner',
      'Make another member owner first; delete_tenant removes the tenant as a whole.',
      'Somebody has to be.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_tenant_members shows the user_id of each.', 'The tenant has no such member.'),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. That of a deleted tenant is free when nothing of it is left.',
      '`create_tenant`, and a tenant of this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You belong to a tenant already',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users who belong to none.'),
    ('tenants.made_by_a_user', 400, 'A tenant is made by a user, who becomes its owner',
      'service_role makes one by add_tenant_member with p_tenant_id and p_role owner.',
      '`service_role` calls `create_tenant`.'),
    ('tenants.not_made_by_users', 403, 'Users do not make tenants here',
      'Whoever runs the project adds you to one, or sets tenants_by_users in '
        'logloom_private.settings.', '`tenants_by_users` in `logloom_private.settings` is off.'),
    ('tenants.not_made_by_anonymous_users', 403, 'Anonymous users do not make tenants here',
      'Sign up, or ask whoever runs the project to set tenants_by_anonymous_users in '
        'logloom_private.settings.',
      'The token is of an anonymous sign-in (claim `is_anonymous`), and its tenant is not there '
        'yet.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Its id is free again when nothing of it is left.', null),
    ('tenants.not_found', 404, 'Tenant not found',
      'A tenant appears with its first write: create, update or ingest.',
      'Before its first write (create, update or ingest) a tenant does not exist.'),
    ('tenants.settings_not_found', 404, 'Tenant settings not found',
      'A tenant appears with its first write: create, update or ingest.', null),
    ('tenants.plan_has_no_room', 400, 'Plan limit exceeded: %s (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.',
      'The plan has no room for one more `saved_searches` or `alerts`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.those_that_fit (
  p_logs public.logloom_log_record[]
)
  RETURNS public.logloom_log_record[]
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_last integer := coalesce(cardinality(p_logs), 0);
begin
  while v_last > 0 and (p_logs[v_last]).id is null loop
    v_last := v_last - 1;
  end loop;
  return case when v_last = cardinality(p_logs) then p_logs else p_logs[:v_last] end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.token_is_current (
  p_claims jsonb,
  p_leeway interval
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- One expression: each costs every request.
  return coalesce(
    logloom_private.numeric_date(p_claims -> 'exp') > extract(epoch from now() - p_leeway)
    and (
      not p_claims ? 'nbf'
      or logloom_private.numeric_date(p_claims -> 'nbf') <= extract(epoch from now() + p_leeway)
    )
    and (
      not p_claims ? 'iat'
      or logloom_private.numeric_date(p_claims -> 'iat') <= extract(epoch from now() + p_leeway)
    ),
    false
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.token_is_valid (
  p_claims jsonb
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the settings
declare
  v_leeway interval;
  v_audience text;
begin
  select s.token_leeway, s.token_audience into v_leeway, v_audience
  from logloom_private.settings s;
  return coalesce(
    logloom_private.token_is_current(p_claims, v_leeway)
    and logloom_private.audience_is_valid(p_claims -> 'aud', v_audience)
    and (not p_claims ? 'iss' or logloom_private.is_string_or_uri(p_claims -> 'iss'))
    and (not p_claims ? 'jti' or jsonb_typeof(p_claims -> 'jti') = 'string')
    and (
      not p_claims ? 'sub'
      or logloom_private.is_string_or_uri(p_claims -> 'sub')
        and logloom_private.usable_id(p_claims ->> 'sub') is not null
    ),
    false
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.unconfirmed_address (
  p_tenant_id text,
  p_address   text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_error text;
begin
  select n.last_error into v_error
  from logloom_private.notifications n
  where n.tenant_id = p_tenant_id and n.purpose = 'confirmation'
    and lower(n.address) = lower(p_address)
  order by n.created_at desc
  limit 1;
  if v_error is not null then
    return 'The address is not confirmed, and the mail with its code failed: ' || v_error;
  end if;
  return 'The address is not confirmed: confirm_alert_address takes the code that was '
    'mailed to it, test_alert_rule mails a new one';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.unhealthy_checks (
  p_checks jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return coalesce(
    (
      select jsonb_object_agg(c.key, logloom_private.members_of(c.value, '{status,reason}'))
      from jsonb_each(p_checks) c
      where c.value ->> 'status' <> 'healthy'
    ),
    '{}'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.usage_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('usage.settings_are_no_object', 400, 'Invalid settings data: %s must be an object',
      'Send a JSON object with the members to change.',
      '`pipeline_config` and `notification_preferences` are JSON objects.'),
    ('usage.setting_is_unknown', 400, 'Invalid settings data: %s has an unknown member "%s"',
      'pipeline_config has retention_days and compression, notification_preferences has '
        'email_enabled and webhook_enabled.', null),
    ('usage.setting_is_no_whole_number', 400, 'Invalid settings data: %s must be a whole number',
      'Send a number from 1 to %2$s.', '`retention_days`.'),
    ('usage.setting_is_out_of_range', 400, 'Invalid settings data: %s must be from 1 to %s',
      'The plan sets the greatest retention_days.', 'The plan limits `retention_days`.'),
    ('usage.setting_is_no_boolean', 400, 'Invalid settings data: %s must be true or false',
      'Send a JSON boolean.', null),
    ('usage.months_are_out_of_range', 400, 'Invalid p_months: 1 to 24',
      'Leave p_months out for the current month alone.', '`get_tenant_usage`.'),
    ('usage.too_many_deletions', 429, 'Too many deletions are open (max %s)',
      'list_log_retention_runs shows them. One deletion with OR does the work of several.', null),
    ('usage.deletion_query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      'Say * to delete every record of the range.', '`delete_logs`: `*` finds every record.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.values_in (
  p_json text
)
  RETURNS integer
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return octet_length(p_json) - octet_length(replace(p_json, ',', ''))
    + octet_length(p_json) - octet_length(replace(p_json, ':', ''))
    + 12 * (octet_length(p_json) - octet_length(translate(p_json, '[{', '')));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.with_health_endpoints (
  p_report jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_checks constant jsonb := p_report -> 'checks';
begin
  return p_report || jsonb_build_object('endpoints',
    (
      select jsonb_object_agg(
        c.name,
        jsonb_build_object(
          'available', true,
          'status', v_checks -> c.name -> 'status',
          'checks', jsonb_build_object(c.name, (v_checks -> c.name) - 'status')
        )
      )
      from unnest(array['queue', 'writer', 'partitions']) c (name)
    )
    || jsonb_build_object(
      'ready', jsonb_build_object(
        'available', p_report ->> 'status' = 'healthy',
        'status', p_report -> 'status',
        'checks', logloom_private.unhealthy_checks(v_checks - 'jobs')
          || jsonb_strip_nulls(jsonb_build_object(
            'jobs', nullif(logloom_private.unhealthy_checks(v_checks -> 'jobs'), '{}')
          ))
          || jsonb_build_object(
            'queue', logloom_private.members_of(v_checks -> 'queue', '{depth,reason}'),
            'writer', logloom_private.members_of(v_checks -> 'writer', '{status,reason}')
          )
      ),
      'detailed', jsonb_build_object(
        'available', p_report ->> 'status' <> 'unhealthy',
        'status', p_report -> 'status',
        'checks', v_checks
      )
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.written_number (
  p_text text
)
  RETURNS numeric
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_number numeric;
begin
  if octet_length(p_text) > 300
    or p_text collate "C" !~ '^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][+-]?0*[0-9]{1,3}$'
    or not pg_input_is_valid(p_text, 'double precision')
  then
    return null;
  end if;
  v_number := trim_scale(p_text::numeric);
  if octet_length(v_number::text) > greatest(40, octet_length(p_text)) then
    return v_number;
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.acknowledge_alert (
  p_alert_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
begin
  perform logloom_private.require_parameter('p_alert_id', p_alert_id is null);
  -- The first acknowledgement stays on record.
  update logloom.alert_history h
  set
    acknowledged_at = coalesce(h.acknowledged_at, now()),
    acknowledged_by = coalesce(h.acknowledged_by, v_user_id)
  where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id;
  if not found then
    perform logloom_private.refuse('alerts.alert_not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION public.confirm_alert_address (
  p_email text DEFAULT NULL::text,
  p_code  text DEFAULT NULL::text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.resolve_tenant_to_change();
  perform logloom_private.require_parameter('p_email', p_email is null);
  perform logloom_private.require_parameter('p_code', p_code is null);
  return logloom_private.confirm_address(p_email, p_code);
end;
$function$;

CREATE OR REPLACE FUNCTION public.create_alert_rule (
  p_tenant_id                 text             DEFAULT NULL::text,
  p_name                      text             DEFAULT NULL::text,
  p_description               text             DEFAULT NULL::text,
  p_query_dsl                 text             DEFAULT NULL::text,
  p_threshold                 double precision DEFAULT NULL::double precision,
  p_comparison                text             DEFAULT NULL::text,
  p_window_minutes            integer          DEFAULT NULL::integer,
  p_cooldown_minutes          integer          DEFAULT NULL::integer,
  p_enabled                   boolean          DEFAULT NULL::boolean,
  p_notification_destinations text[]           DEFAULT NULL::text[],
  p_notification_config       jsonb            DEFAULT NULL::jsonb
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', p_threshold is null);
  perform logloom_private.require_parameter('p_comparison', p_comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', p_window_minutes is null);
  perform logloom_private.require_parameter('p_cooldown_minutes', p_cooldown_minutes is null);
  perform logloom_private.require_parameter('p_enabled', p_enabled is null);
  perform logloom_private.check_query(p_query_dsl, true);
  perform logloom_private.require_room_for_alert_rule(p_tenant_id);
  insert into logloom.alert_rules as r (
    tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
    cooldown_minutes, enabled, notification_destinations, notification_config, created_by
  )
  values (
    v_tenant_id, logloom_private.trim_space(p_name), nullif(
      logloom_private.trim_space(p_description), ''
    ),
    p_query_dsl, p_threshold, p_comparison, p_window_minutes, p_cooldown_minutes, p_enabled,
    coalesce(logloom_private.distinct_destinations(p_notification_destinations), '{}'),
    coalesce(nullif(p_notification_config, 'null'), '{}'), logloom_private.current_user_id()
  )
  returning r.* into v_row;
  perform logloom_private.plan_own_alert_rule(v_tenant_id, v_row.rule_id);
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.create_api_key (
  p_tenant_id  text                     DEFAULT NULL::text,
  p_name       text                     DEFAULT NULL::text,
  p_expires_at timestamp with time zone DEFAULT NULL::timestamp WITH time zone,
  p_scopes     text[]                   DEFAULT NULL::text[]
)
  RETURNS public.logloom_created_api_key
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_name constant text := logloom_private.trim_space(p_name);
  v_scopes constant text[] := coalesce(p_scopes, '{ingest}');
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  if length(v_name) not between 1 and 100 then
    perform logloom_private.refuse('api_keys.name_is_invalid');
  end if;
  if p_expires_at <= now() then
    perform logloom_private.refuse('api_keys.expires_in_the_past');
  end if;
  if not v_scopes <@ '{ingest}' or cardinality(v_scopes) = 0 or array_ndims(v_scopes) <> 1
    or array_position(v_scopes, null) is not null
  then
    perform logloom_private.refuse('api_keys.scope_is_unknown');
  end if;

  perform logloom_private.require_room_for_api_key(p_tenant_id, 1);
  return logloom_private.issue_api_key(v_tenant_id, v_name, p_expires_at, v_scopes);
end;
$function$;

CREATE OR REPLACE FUNCTION public.create_saved_search (
  p_name        text    DEFAULT NULL::text,
  p_query_dsl   text    DEFAULT NULL::text,
  p_description text    DEFAULT NULL::text,
  p_category    text    DEFAULT NULL::text,
  p_is_shared   boolean DEFAULT false,
  p_tags        text[]  DEFAULT NULL::text[]
)
  RETURNS uuid
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_id uuid;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.check_query(p_query_dsl);
  perform logloom_private.require_room_for_saved_search(null);
  insert into logloom.saved_searches (
    tenant_id, created_by, name, query_dsl, description, category, is_shared, tags
  )
  values (
    v_tenant_id, v_user_id, logloom_private.trim_space(p_name), p_query_dsl,
    nullif(logloom_private.trim_space(p_description), ''), nullif(
      logloom_private.trim_space(p_category), ''
    ),
    coalesce(p_is_shared, false), coalesce(p_tags, '{}')
  )
  returning id into v_id;
  return v_id;
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.delete_alert_rule (
  p_rule_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  delete from logloom.alert_rules r where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION public.delete_logs (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_dry_run   boolean DEFAULT NULL::boolean
)
  RETURNS public.logloom_retention_run
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  perform logloom_private.resolve_tenant_to_change();
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_ts_from', p_ts_from is null);
  perform logloom_private.require_parameter('p_ts_to', p_ts_to is null);
  return logloom_private.retention_run_of(
    logloom_private.request_deletion(
      p_query_dsl, logloom_private.time_parameter('p_ts_from', p_ts_from),
      logloom_private.time_parameter('p_ts_to', p_ts_to), coalesce(p_dry_run, true)
    )
  );
exception
when query_canceled then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return public.delete_logs(p_query_dsl, p_ts_from, p_ts_to, p_dry_run);
end;
$function$;

CREATE OR REPLACE FUNCTION public.delete_saved_search (
  p_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  delete from logloom.saved_searches s
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION public.ingest_logs (
  p_tenant_id       text                       DEFAULT NULL::text,
  p_key_digest      text                       DEFAULT NULL::text,
  p_idempotency_key text                       DEFAULT NULL::text,
  p_body_digest     text                       DEFAULT NULL::text,
  p_bytes           integer                    DEFAULT NULL::integer,
  p_positions       integer[]                  DEFAULT NULL::integer[],
  p_rejected        integer                    DEFAULT NULL::integer,
  p_errors          json                       DEFAULT NULL::json,
  p_ts              timestamp with time zone[] DEFAULT NULL::timestamp WITH time zone[],
  p_level           text[]                     DEFAULT NULL::text[],
  p_msg             text[]                     DEFAULT NULL::text[],
  p_service         text[]                     DEFAULT NULL::text[],
  p_env             text[]                     DEFAULT NULL::text[],
  p_req_id          text[]                     DEFAULT NULL::text[],
  p_user_id         text[]                     DEFAULT NULL::text[],
  p_route           text[]                     DEFAULT NULL::text[],
  p_host            text[]                     DEFAULT NULL::text[],
  p_attrs           jsonb[]                    DEFAULT NULL::jsonb[],
  p_slice           integer                    DEFAULT NULL::integer,
  p_claims          jsonb                      DEFAULT NULL::jsonb,
  p_cut             integer                    DEFAULT NULL::integer
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '5s'
  AS $function$
declare
  v_request logloom_private.ingest_request;
begin
  v_request.p_tenant_id := p_tenant_id;
  v_request.p_key_digest := p_key_digest;
  v_request.p_idempotency_key := p_idempotency_key;
  v_request.p_body_digest := p_body_digest;
  v_request.p_bytes := p_bytes;
  v_request.p_positions := p_positions;
  v_request.p_rejected := p_rejected;
  v_request.p_errors := p_errors;
  v_request.p_ts := p_ts;
  v_request.p_level := p_level;
  v_request.p_msg := p_msg;
  v_request.p_service := p_service;
  v_request.p_env := p_env;
  v_request.p_req_id := p_req_id;
  v_request.p_user_id := p_user_id;
  v_request.p_route := p_route;
  v_request.p_host := p_host;
  v_request.p_attrs := p_attrs;
  v_request.p_slice := p_slice;
  v_request.p_claims := p_claims;
  v_request.p_cut := p_cut;
  return logloom_private.ingest_one(v_request);
end;
$function$;

REVOKE ALL
  ON FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
    WITH time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb, integer)
  FROM PUBLIC, "anon", "authenticated";

CREATE OR REPLACE FUNCTION public.list_alert_history (
  p_tenant_id    text    DEFAULT NULL::text,
  p_rule_id      uuid    DEFAULT NULL::uuid,
  p_ts_from      text    DEFAULT NULL::text,
  p_ts_to        text    DEFAULT NULL::text,
  p_acknowledged boolean DEFAULT NULL::boolean,
  p_limit        integer DEFAULT NULL::integer,
  p_after        uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_alert_history_entry
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select h.triggered_at
        from logloom.alert_history h
        where h.tenant_id = v_tenant_id and h.alert_id = p_after
      ),
      'alert', 'alert_id'
    )
  end;
begin
  if v_from >= v_to then
    perform logloom_private.refuse('alerts.range_is_empty');
  end if;
  -- To plan anew would be a tenth of a call. The newest entries have one plan that always fits;
  -- what else is asked for is planned for its values.
  if num_nonnulls(p_rule_id, v_from, v_to, p_acknowledged, p_after) > 0 then
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return query
  select
    h.alert_id, h.rule_id, h.tenant_id, h.triggered_at, h.value, h.threshold,
    h.acknowledged_at is not null, h.acknowledged_at, h.acknowledged_by,
    h.notification_sent_at is not null, h.notification_sent_at, h.notification_channels,
    h.notification_error, h.window_start, h.window_end, h."group"
  from (
    select l.*, sum(octet_length(l."group"::text)) over (
      order by l.triggered_at desc, l.alert_id desc
      rows between unbounded preceding and 1 preceding
    ) as bytes_before
    from (
      select h.*
      from logloom.alert_history h
      where h.tenant_id = v_tenant_id
        and (p_rule_id is null or h.rule_id = p_rule_id)
        and (v_from is null or h.triggered_at >= v_from)
        and (v_to is null or h.triggered_at < v_to)
        and (p_acknowledged is null or (h.acknowledged_at is not null) = p_acknowledged)
        and (p_after is null or (h.triggered_at, h.alert_id) < (v_after, p_after))
      order by h.triggered_at desc, h.alert_id desc
      limit v_limit
    ) l
  ) h
  -- Of a group there may be a whole message.
  where coalesce(h.bytes_before, 0) < logloom_private.page_bytes()
  order by h.triggered_at desc, h.alert_id desc;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_alert_rules (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select r.created_at
        from logloom.alert_rules r
        where r.tenant_id = v_tenant_id and r.rule_id = p_after
      ),
      'alert rule', 'rule_id'
    )
  end;
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- So many fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select o as item
      from logloom.alert_rules r
      cross join lateral logloom_private.alert_rule_of(r) o
      where r.tenant_id = v_tenant_id
        and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
      order by r.created_at desc, r.rule_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.page_bytes();
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_saved_searches (
  include_shared boolean DEFAULT true,
  p_limit        integer DEFAULT NULL::integer,
  p_after        uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_saved_search
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.current_user_id();
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select s.created_at
        from logloom.saved_searches s
        where s.id = p_after
      ),
      'saved search', 'id'
    )
  end;
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- So many fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select o as item
      from logloom.saved_searches s
      cross join lateral logloom_private.saved_search_of(s) o
      where s.tenant_id = v_tenant_id
        and (include_shared is distinct from false or s.created_by = v_user_id)
        and (p_after is null or (s.created_at, s.id) < (v_after, p_after))
      order by s.created_at desc, s.id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.page_bytes();
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_tenant_audit_events (
  p_tenant_id text    DEFAULT NULL::text,
  p_action    text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_audit_event
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select e.occurred_at
        from logloom.audit_events e
        where e.tenant_id = v_tenant_id and e.event_id = p_after
      ),
      'audit event', 'event_id'
    )
  end;
begin
  return query
  select e.event_id, e.tenant_id, e.occurred_at, e.actor, e.action, e.subject, e.details,
    e.client_id
  from logloom.audit_events e
  where e.tenant_id = v_tenant_id
    and (p_action is null or e.action = p_action)
    and (v_from is null or e.occurred_at >= v_from)
    and (v_to is null or e.occurred_at < v_to)
    and (p_after is null or (e.occurred_at, e.event_id) < (v_after, p_after))
  order by e.occurred_at desc, e.event_id desc
  limit v_limit;
end;
$function$;

CREATE OR REPLACE FUNCTION public.preview_alert_rule (
  p_tenant_id        text             DEFAULT NULL::text,
  p_rule_id          uuid             DEFAULT NULL::uuid,
  p_query_dsl        text             DEFAULT NULL::text,
  p_threshold        double precision DEFAULT NULL::double precision,
  p_comparison       text             DEFAULT NULL::text,
  p_window_minutes   integer          DEFAULT NULL::integer,
  p_cooldown_minutes integer          DEFAULT NULL::integer
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_rule logloom.alert_rules;
begin
  if p_rule_id is not null then
    select r.* into v_rule
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
    if not found then
      perform logloom_private.refuse_alert_rule();
    end if;
  end if;
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.threshold := coalesce(p_threshold, v_rule.threshold);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', v_rule.threshold is null);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif not logloom_private.is_alert_window(v_rule.window_minutes) then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif not logloom_private.is_alert_cooldown(v_rule.cooldown_minutes) then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  end if;
  return logloom_private.preview_windows(
    p_tenant_id, v_rule.query_dsl, v_rule.threshold, v_rule.comparison, v_rule.window_minutes,
    v_rule.cooldown_minutes
  );
exception
when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return public.preview_alert_rule(
    p_tenant_id, p_rule_id, p_query_dsl, p_threshold, p_comparison, p_window_minutes,
    p_cooldown_minutes
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.retry_alert_delivery (
  p_delivery_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_alert_delivery
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.resolve_tenant_to_change();
  perform logloom_private.require_parameter('p_delivery_id', p_delivery_id is null);
  return logloom_private.put_back_delivery(p_delivery_id);
end;
$function$;

CREATE OR REPLACE FUNCTION public.revoke_api_key (
  p_tenant_id text DEFAULT NULL::text,
  p_key_id    uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  update logloom.api_keys k
  set revoked_at = coalesce(k.revoked_at, now())
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION public.rotate_alert_webhook_secret (
  p_rule_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_webhook_secret
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.resolve_tenant_to_change();
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  return logloom_private.replace_webhook_secret(p_rule_id);
end;
$function$;

CREATE OR REPLACE FUNCTION public.rotate_api_key (
  p_tenant_id       text    DEFAULT NULL::text,
  p_key_id          uuid    DEFAULT NULL::uuid,
  p_overlap_minutes integer DEFAULT NULL::integer
)
  RETURNS public.logloom_created_api_key
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_overlap constant integer := coalesce(p_overlap_minutes, 60);
  v_old record;
  v_result public.logloom_created_api_key;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  if v_overlap not between 0 and 10080 then
    perform logloom_private.refuse('api_keys.overlap_is_out_of_range');
  end if;
  select k.name, k.scopes, k.created_at, k.expires_at, k.revoked_at into v_old
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id
  for no key update;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  if logloom_private.api_key_status(v_old.revoked_at, v_old.expires_at) <> 'active' then
    perform logloom_private.refuse('api_keys.not_active');
  end if;

  -- A key that was to live for a time is followed by one that lives as long.
  -- Both are alive for a while, also where the plan has no room for one more.
  perform logloom_private.require_room_for_api_key(p_tenant_id, 2);
  v_result := logloom_private.issue_api_key(
    v_tenant_id, v_old.name, now() + (v_old.expires_at - v_old.created_at), v_old.scopes
  );
  update logloom.api_keys k
  set expires_at = least(k.expires_at, now() + make_interval(mins => v_overlap))
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION public.test_alert_rule (
  p_rule_id uuid DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_alert_delivery
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.resolve_tenant_to_change();
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  return query select d.* from logloom_private.enqueue_rule_test(p_rule_id) d;
end;
$function$;

CREATE OR REPLACE FUNCTION public.update_alert_rule (
  p_rule_id                   uuid             DEFAULT NULL::uuid,
  p_name                      text             DEFAULT NULL::text,
  p_description               text             DEFAULT NULL::text,
  p_query_dsl                 text             DEFAULT NULL::text,
  p_threshold                 double precision DEFAULT NULL::double precision,
  p_comparison                text             DEFAULT NULL::text,
  p_window_minutes            integer          DEFAULT NULL::integer,
  p_cooldown_minutes          integer          DEFAULT NULL::integer,
  p_enabled                   boolean          DEFAULT NULL::boolean,
  p_notification_destinations text[]           DEFAULT NULL::text[],
  p_notification_config       jsonb            DEFAULT NULL::jsonb
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl, true);
  end if;
  -- An empty description takes it away; notification_config is replaced as a whole.
  update logloom.alert_rules r
  set
    name = coalesce(logloom_private.trim_space(p_name), r.name),
    description = nullif(coalesce(logloom_private.trim_space(p_description), r.description), ''),
    query_dsl = coalesce(p_query_dsl, r.query_dsl),
    threshold = coalesce(p_threshold, r.threshold),
    comparison = coalesce(p_comparison, r.comparison),
    window_minutes = coalesce(p_window_minutes, r.window_minutes),
    cooldown_minutes = coalesce(p_cooldown_minutes, r.cooldown_minutes),
    enabled = coalesce(p_enabled, r.enabled),
    notification_destinations = case
      when p_notification_destinations is null then r.notification_destinations
      else coalesce(logloom_private.distinct_destinations(p_notification_destinations), '{}')
    end,
    notification_config = coalesce(nullif(p_notification_config, 'null'), r.notification_config),
    updated_at = now(),
    asked_at = case
      when (r.query_dsl, r.threshold, r.comparison, r.window_minutes) = (
          coalesce(p_query_dsl, r.query_dsl), coalesce(p_threshold, r.threshold),
          coalesce(p_comparison, r.comparison), coalesce(p_window_minutes, r.window_minutes)
        )
        and r.enabled >= coalesce(p_enabled, r.enabled)
        then r.asked_at
      else now()
    end
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning r.* into v_row;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  perform logloom_private.plan_own_alert_rule(v_tenant_id, v_row.rule_id);
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.update_saved_search (
  p_id          uuid    DEFAULT NULL::uuid,
  p_name        text    DEFAULT NULL::text,
  p_query_dsl   text    DEFAULT NULL::text,
  p_description text    DEFAULT NULL::text,
  p_category    text    DEFAULT NULL::text,
  p_is_shared   boolean DEFAULT NULL::boolean,
  p_tags        text[]  DEFAULT NULL::text[]
)
  RETURNS public.logloom_saved_search
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_row logloom.saved_searches;
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl);
  end if;
  -- An empty description or category takes it away.
  update logloom.saved_searches s
  set
    name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = coalesce(p_query_dsl, s.query_dsl),
    description = nullif(coalesce(logloom_private.trim_space(p_description), s.description), ''),
    category = nullif(coalesce(logloom_private.trim_space(p_category), s.category), ''),
    is_shared = coalesce(p_is_shared, s.is_shared),
    tags = coalesce(p_tags, s.tags),
    updated_at = now()
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id
  returning s.* into v_row;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return logloom_private.saved_search_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$function$;

CREATE OR REPLACE PROCEDURE logloom_private.evaluate_alerts()
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant pg_catalog.timestamptz := logloom_private.job_deadline(v_started_at);
  v_begun logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_step_rules constant pg_catalog.int4 :=
    (select s.alert_step_rules from logloom_private.settings s);
  v_rule_ids pg_catalog.uuid[];
  v_is_cut_short pg_catalog.bool := false;
  v_turn pg_catalog.int4;
  v_error pg_catalog.text;
begin
  -- Not two at a time; a session that is killed lets go.
  if not pg_catalog.pg_try_advisory_lock(logloom_private.lock_key('alerts')) then
    return;
  end if;
  loop
    begin
      v_begun := logloom_private.begin_alert_round(
        pg_catalog.clock_timestamp(), logloom_private.watermark()
      );
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null;

    -- What is cheap, for all tenants.
    if v_begun.window_end is not null then
      v_round := v_begun;
      loop
        begin
          exit when not logloom_private.advance_alert_groups(
            v_round, pg_catalog.clock_timestamp() + '1 second'::pg_catalog.interval
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
          exit;
        end;
        commit;
      end loop;
      v_rule_ids := '{}';
      loop
        v_rule_ids := logloom_private.next_alert_rules(
          v_rule_ids[pg_catalog.cardinality(v_rule_ids)], v_step_rules, v_round
        );
        exit when pg_catalog.cardinality(v_rule_ids) = 0;
        v_is_cut_short := pg_catalog.clock_timestamp() > v_deadline;
        exit when v_is_cut_short;
        begin
          perform logloom_private.judge_alert_rules(
            v_rule_ids, v_round, pg_catalog.clock_timestamp()
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        end;
        commit;
      end loop;
      -- The next run goes on with the rules that this round has not evaluated yet.
      exit when v_is_cut_short;
      perform logloom_private.finish_alert_round(pg_catalog.clock_timestamp());
      commit;
    end if;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_deadline;

    -- What is not: a turn at a time, so that the next round waits for one at most.
    if v_round.window_end is null then
      v_round := logloom_private.continued_alert_round();
      commit;
      exit when v_round.window_end is null;
    end if;
    begin
      v_turn := logloom_private.read_alert_windows(v_round, pg_catalog.clock_timestamp());
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null or v_turn is null;
  end loop;
  perform logloom_private.record_job('evaluate_alerts', v_started_at, v_error);
  commit;
  perform pg_catalog.pg_advisory_unlock(logloom_private.lock_key('alerts'));
end;
$procedure$;

CREATE OR REPLACE PROCEDURE logloom_private.run_job (
  IN p_job text,
  IN p_step regprocedure
)
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant pg_catalog.timestamptz := logloom_private.job_deadline(v_started_at);
  v_rest pg_catalog.interval;
  v_answer pg_catalog.text;
  v_error pg_catalog.text;
begin
  loop
    begin
      -- The project's may have days of 23 hours, and dates that are read as another zone's.
      perform
        pg_catalog.set_config('timezone', 'UTC', true),
        pg_catalog.set_config('datestyle', 'ISO', true);
      execute pg_catalog.format('select %s::pg_catalog.text', p_step) into v_answer;
      v_rest := case when v_answer <> '' then v_answer::pg_catalog.interval end;
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

CREATE OR REPLACE PROCEDURE logloom_private.run_retention (
  IN p_today date DEFAULT NULL::date
)
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_today constant pg_catalog.date := coalesce(p_today, logloom_private.utc_day(pg_catalog.now()));
begin
  if p_today is null and not logloom_private.retention_is_due(v_today) then
    return;
  end if;
  perform logloom_private.begin_retention(v_today);
  commit;
  call logloom_private.run_job('run_retention', 'logloom_private.retention_step()');
end;
$procedure$;

CREATE OR REPLACE PROCEDURE logloom_private.write_logs()
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant pg_catalog.timestamptz :=
    least(
      v_started_at + (select s.writer_run_budget from logloom_private.settings s),
      logloom_private.job_deadline(v_started_at)
    );
  v_step_events constant pg_catalog.int4 :=
    (select s.writer_step_events from logloom_private.settings s);
  v_events pg_catalog.int4;
  v_since_flip pg_catalog.int4;
  v_flipped pg_catalog.bool;
  v_error pg_catalog.text;
begin
  begin
    perform logloom_private.meter_queue();
  exception when others then
    v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
  end;
  commit;
  loop
    -- What an earlier run left behind comes first, then what the flip closes.
    v_since_flip := 0;
    loop
      begin
        v_events := logloom_private.write_step();
      exception when query_canceled or others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        v_events := 0;
      end;
      commit;
      v_since_flip := v_since_flip + v_events;
      exit when v_events = 0 or pg_catalog.clock_timestamp() > v_deadline;
    end loop;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_deadline;
    -- A further flip in this run only where there is more than a step's worth to move.
    exit when v_flipped and v_since_flip < v_step_events;
    v_flipped := logloom_private.flip_queue();
    commit;
    exit when not v_flipped;
  end loop;

  begin
    perform logloom_private.empty_moved_slots();
    perform logloom_private.provide_partitions();
  exception when query_canceled or others then
    v_error := coalesce(v_error, pg_catalog.format('%s: %s', sqlstate, sqlerrm));
  end;
  perform logloom_private.record_job('write_logs', v_started_at, v_error);
  commit;
end;
$procedure$;

COMMENT ON COLUMN "logloom"."alert_rules"."asked_at" IS 'Since when it asks what it asks: made, enabled, or given another query, window or condition. Only windows that end later are evaluated.';

COMMENT ON COLUMN "logloom"."audit_events"."client_id" IS 'The OAuth client that acted for the user, where the token was issued to one.';

COMMENT ON COLUMN "logloom"."logs"."record_bytes" IS 'Bytes of the record''s JSON text as operations answer it; null where it came before this column. logloom_private.bytes_of_record says either.';

COMMENT ON COLUMN "logloom_private"."queue"."record_bytes" IS 'How many bytes the JSON text of each event''s record will have.';

COMMENT ON COLUMN "logloom_private"."sealed_chunks"."weight" IS 'What settings.seal_chunk_bytes bounds; null where the chunk was made before this column.';

COMMENT ON COLUMN "logloom_private"."sealed_columns"."name" IS 'env, req_id, user_id, route, host or record_bytes; attrs. and a key, whose values are JSON texts; or attrs, which holds the keys that are too rare or too long for a column, {} where there are none, and is null where attrs is null.';

COMMENT ON COLUMN "logloom_private"."settings"."dry_runs_kept" IS 'Newest dry runs of delete_logs of a tenant that list_log_retention_runs shows.';

COMMENT ON COLUMN "logloom_private"."settings"."max_page_bytes" IS 'An answer ends with the record or row that brings it to so many bytes of JSON, some 8 MB.';

COMMENT ON COLUMN "logloom_private"."settings"."max_record_bytes" IS 'Bytes that the JSON text of a record has at most. Of a longer one the function ingest cuts the longest values.';

COMMENT ON COLUMN "logloom_private"."settings"."max_record_values" IS 'Values that the attributes of a record have at most, a member counted as two and an array or object as eleven beside what it holds. Reading them takes far more memory than their text. Of more the function ingest keeps the first.';

COMMENT ON COLUMN "logloom_private"."settings"."notification_open_limit" IS 'Deliveries under way at once, of all tenants: one tenant has no more of them than stay free.';

COMMENT ON COLUMN "logloom_private"."settings"."seal_chunk_bytes" IS 'Bytes of the records of a chunk, unpacked, at most; what one has beyond 2,000 counts eightfold: what bounds the memory of sealing, and of reading what is sealed.';

COMMENT ON COLUMN "logloom_private"."settings"."search_sample_bytes" IS 'Bytes of records that list_log_fields looks at; one record at least.';

COMMENT ON COLUMN "logloom_private"."settings"."tenants_by_anonymous_users" IS 'Whether an anonymous sign-in makes a tenant, by create_tenant or by the first write for the tenant that its token names.';

COMMENT ON COLUMN "logloom_private"."settings"."writing_clients" IS 'client_id of the OAuth clients whose tokens may do what their user may. Others only read.';

COMMENT ON FUNCTION "logloom_private"."accepted_answer"(integer, integer, json, integer) IS 'The body of a 200: {success, ingested, rejected, cut, errors}, the last where events were rejected, cut where records were too large to be stored whole.';

COMMENT ON FUNCTION "logloom_private"."advance_log_tail"(text, logloom_private.compiled_query, integer, bigint, logloom_private.log_tail) IS 'Moves a tail on by p_limit records that match, by max_page_bytes of them, or as far as it comes.';

COMMENT ON FUNCTION "logloom_private"."answered_bytes"(public.logloom_log_record[]) IS 'How many bytes records have in an answer.';

COMMENT ON FUNCTION "logloom_private"."audience_is_valid"(jsonb, text) IS 'Whether a claim aud is a string or an array of some, and is or contains p_audience where that is not null.';

COMMENT ON FUNCTION "logloom_private"."authenticate_sender"(text, text, jsonb) IS 'Whose a request is: of the API key where one is given, else of the tenant of the verified claims, else of the tenant that service_role names. PT401, PT403 for the token of an OAuth client that may only read.';

COMMENT ON FUNCTION "logloom_private"."bare_record_bytes"(text, timestamp with time zone) IS 'Bytes of a record''s JSON text without the values of its event, null ones too.';

COMMENT ON FUNCTION "logloom_private"."bytes_of_record"(logloom.logs) IS 'Bytes of a record''s JSON text: what was measured when it was accepted, and for one of before that was done, measured now, for which it has to be whole.';

COMMENT ON FUNCTION "logloom_private"."check_operation"(text) IS 'Where the request asks for one of our operations: PT400 without an Authorization header, PT401 without a usable tenant (service_role excepted, whose token has to be current), PT403 for a user who asks for what is for service_role alone, PT405 by another method than POST.';

COMMENT ON FUNCTION "logloom_private"."chunk_end"(text, date, integer, integer) IS 'Up to which record of a day, oldest first, a tenant''s records make a chunk of seal_chunk_records and seal_chunk_bytes, of which p_share days have a share, or p_at_least records (0 or 1). Null: none.';

COMMENT ON FUNCTION "logloom_private"."chunk_sizes"(logloom_private.sealed_chunks, integer[]) IS 'record_bytes at ascending positions of a chunk, of which there is one at least; 0 or null where it is not known.';

COMMENT ON FUNCTION "logloom_private"."claim_due_notifications"(integer) IS 'The notifications that are due, taken for as long as a claim lasts: who has least under way comes first, and of each as many as its plan allows in the hour.';

COMMENT ON FUNCTION "logloom_private"."compare_chunk"(text, bigint, timestamp with time zone[], timestamp
  with time zone[], bigint[], uuid[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer[]) IS 'Reads a chunk back. LL001 where it differs from the records that it was made of.';

COMMENT ON FUNCTION "logloom_private"."current_client_id"() IS 'The OAuth client that the request''s token was issued to: the claim client_id. Null where a user signed in without one.';

COMMENT ON FUNCTION "logloom_private"."cut_record"(public.logloom_log_record, bigint) IS 'What an answer has of a record that is larger than a page: the beginnings of its texts, and in attrs.logloom_cut how many bytes it has.';

COMMENT ON FUNCTION "logloom_private"."due_notifications"() IS 'The notifications that are due, and whether they are beyond what their tenant''s plan allows in this hour.';

COMMENT ON FUNCTION "logloom_private"."enqueue"(text, uuid, logloom_private.ingest_request, timestamp with time zone, integer[], timestamp with time zone, timestamp
  with time zone) IS 'Puts one batch into the open slot.';

COMMENT ON FUNCTION "logloom_private"."enroll_member"(text, text, text, text) IS 'Enrolls a user, and in the first place who does so; what public.add_tenant_member answers.';

COMMENT ON FUNCTION "logloom_private"."fetched_page"(text) IS 'fetched_records() as an array, in which those without an id are null.';

COMMENT ON FUNCTION "logloom_private"."fill_mask"(text, bytea, bigint) IS 'A text from its mask and its digits in hexadecimal, of which p_place others stand before them.';

COMMENT ON FUNCTION "logloom_private"."fill_masks"(text[], integer[], bytea, text) IS 'Texts from masks, as many of each as p_counts says, and their digits, four bits each.';

COMMENT ON FUNCTION "logloom_private"."first_records_sql"(text, logloom_private.compiled_query, timestamp with time zone, timestamp with time zone, text, integer, text, timestamp
  with time zone, uuid, text, boolean, bigint) IS 'SQL from "from" to "limit": the first p_limit records, as alias l, in p_order (asc or desc). p_filter is the query''s and, where p_ts and p_id are given, that a record is after them. p_reads: what reads them besides ts and id, SQL over l; all may be read where it is null. p_is_part: the range is one of search_parts, which begin with what the tenant keeps. p_bytes: of sealed records after so many bytes nothing but the place and the size is there.';

COMMENT ON FUNCTION "logloom_private"."fitting_sql"(text, text, text, text, bigint, text) IS 'SQL of the records, with p_others, of p_rows, SQL from "from" on with the alias l, in p_order. Those after p_bytes are null. p_size: what says how large one is.';

COMMENT ON FUNCTION "logloom_private"."found_page"(text, logloom_private.compiled_query, tstzrange, integer, text, timestamp with time zone, uuid) IS 'Up to p_limit records that a query finds, those after p_ts and p_id where they are given. It ends with max_page_bytes, and begins no further part of the range after search_turn, so that it may find fewer.';

COMMENT ON FUNCTION "logloom_private"."has_more_values"(jsonb, integer) IS 'Whether attributes have more values than so many.';

COMMENT ON FUNCTION "logloom_private"."health_grade"(text, text) IS 'status and reason of a check, by what makes it unhealthy or degraded: no grade without its reason, and none of a tenant''s words, since health is open to all.';

COMMENT ON FUNCTION "logloom_private"."is_address_of_member"(text, text) IS 'Whether a member of the tenant confirmed this email address to Supabase Auth. What add_tenant_member was given is a label, and proves nothing.';

COMMENT ON FUNCTION "logloom_private"."is_string_or_uri"(jsonb) IS 'Whether a claim is what RFC 7519 calls StringOrURI: with a colon it is a URI. PostgREST asks the same of iss, sub and aud.';

COMMENT ON FUNCTION "logloom_private"."largest_record"(logloom_private.sealed_chunks) IS 'The greatest record_bytes of a chunk, null where it is not known.';

COMMENT ON FUNCTION "logloom_private"."log_fields_sample"(text, logloom_private.compiled_query, tstzrange) IS 'Records, newest first, which together stay within the sample''s bytes and keys.';

COMMENT ON FUNCTION "logloom_private"."measured_events"(text, timestamp with time zone, logloom_private.ingest_request) IS 'Of each event how many bytes the JSON text of its record will have, the most of them, and between which times they happened: p_received_at where they do not say it.';

COMMENT ON FUNCTION "logloom_private"."next_notifications"(integer) IS 'The due notifications whose turn it is, while the service has room for them.';

COMMENT ON FUNCTION "logloom_private"."numeric_date"(jsonb) IS 'The time that a claim names, in seconds; null where it names none.';

COMMENT ON FUNCTION "logloom_private"."page_bytes"() IS 'A list ends with the item that brings it to so many bytes.';

COMMENT ON FUNCTION "logloom_private"."provision_tenant"(text, jsonb) IS 'Makes the tenant on the default plan unless it exists. PT403 for an anonymous sign-in.';

COMMENT ON FUNCTION "logloom_private"."reads_again"(text) IS 'Whether a reading that failed is worth a second try: Citus moved or split the shard between plan and execution, and has its new place by then. PT504 where the second met it again.';

COMMENT ON FUNCTION "logloom_private"."refuse_warnings"(logloom_private.compiled_query) IS 'PT400 where the query probably means something else than was meant, with its first warning.';

COMMENT ON FUNCTION "logloom_private"."require_lasting_user"(jsonb) IS 'PT403 where the token is of an anonymous sign-in, which makes no tenant unless settings.tenants_by_anonymous_users says so.';

COMMENT ON FUNCTION "logloom_private"."require_writing_client"(jsonb) IS 'PT403 where the token was issued to an OAuth client that settings.writing_clients does not list.';

COMMENT ON FUNCTION "logloom_private"."resolve_tenant_to_change"(text) IS 'resolve_tenant() for an operation that changes something: PT403 for the token of an OAuth client that may only read.';

COMMENT ON FUNCTION "logloom_private"."rows_in_turn"(text, timestamp with time zone, timestamp
  with time zone, text, text, text, integer, boolean, bigint) IS 'The tenant''s rows of a range that pass a filter, search_days_at_once days after search_days_at_once days; the first p_limit of them in p_order where it is given. p_reads: SQL over the alias l that reads them; of each only what it reads is there, all where it is null. p_bytes: of those that have so many before them only the size is there, besides what names them.';

COMMENT ON FUNCTION "logloom_private"."rows_sql"(text, timestamp with time zone, timestamp with time zone, text, text, text, integer, boolean, bigint) IS 'SQL from "from" on: the tenant''s rows, as alias l, of a range that pass a filter, where they lie or, of many days, in turn. Parameters as those of rows_in_turn.';

COMMENT ON FUNCTION "logloom_private"."sealed_arrivals"(text, bigint, uuid, bigint, timestamp with time zone, jsonb, text, integer, bigint) IS 'Sealed records from p_from on, of the writer''s steps p_first to p_last, of the first one those after p_id, that a query finds: of each chunk the first p_limit, and of the first one that has p_bytes of them before it id, ts, arrival and record_bytes.';

COMMENT ON FUNCTION "logloom_private"."sealed_page"(text, timestamp with time zone, timestamp with time zone, jsonb, text, integer, text, timestamp
  with time zone, uuid, text, bigint) IS 'Sealed records that a query finds, among them the first p_limit in the order of (ts, id), after p_ts and p_id where they are given. p_reads: SQL over the alias l that reads them; of each only what it reads, ts and id are there, all where it is null. p_bytes: with so many of them before it a record is none that a page holds: of the first such one of a chunk ts, id and record_bytes are there, and none after it.';

COMMENT ON FUNCTION "logloom_private"."send_notifications"() IS 'Wakes the edge function logloom-notify when something is due.';

COMMENT ON FUNCTION "logloom_private"."sent_claims"(text) IS 'The claims as the token of an Authorization header says them, before PostgREST reads them. Empty, which is nobody''s, where they are no JSON object or two members of one have the same name; null where the header holds no token of three parts. Its signature is PostgREST''s to verify.';

COMMENT ON FUNCTION "logloom_private"."service_token_is_valid"(jsonb) IS 'Whether verified claims of service_role may act now: token_is_current().';

COMMENT ON FUNCTION "logloom_private"."short_number"(numeric) IS 'A number of an extracted JSON text as a record has it: the number, or, where that would be written out too long, its text with an exponent.';

COMMENT ON FUNCTION "logloom_private"."silence_reason"(text, interval, interval) IS 'What is said of a check whose last success is too long ago.';

COMMENT ON FUNCTION "logloom_private"."sized_rows_sql"(text, text, bigint, text) IS 'SQL from "from" on: p_rows, SQL of the same kind with the alias l, with size and with fits, whether those before it in p_order have fewer than p_bytes. p_size: SQL of the size.';

COMMENT ON FUNCTION "logloom_private"."small_sql"(text, text, text, integer, bigint) IS 'SQL of the records, with p_others, of p_rows, SQL from "from" on with the alias l: of p_limit records that together have less than p_bytes, however many of them are read. Others are null.';

COMMENT ON FUNCTION "logloom_private"."those_that_fit"(public.logloom_log_record[]) IS 'Records without those at their end that are null.';

COMMENT ON FUNCTION "logloom_private"."token_is_current"(jsonb, interval) IS 'Whether it is the time of verified claims: exp is there and ahead, nbf and iat are not, give or take the leeway.';

COMMENT ON FUNCTION "logloom_private"."token_is_valid"(jsonb) IS 'Whether verified claims may act now: token_is_current(); aud, iss, jti and sub are strings, aud may be an array of some, and is or contains token_audience where that is set; sub can name a user. The one verdict of every door; who verified the signature may be stricter.';

COMMENT ON FUNCTION "logloom_private"."unconfirmed_address"(text, text) IS 'What a delivery says that is not made because nobody confirmed its address. It asks for no code that was not mailed.';

COMMENT ON FUNCTION "logloom_private"."unhealthy_checks"(jsonb) IS 'Of the checks that are not healthy, status and reason.';

COMMENT ON FUNCTION "logloom_private"."values_in"(text) IS 'Values of a JSON text whose texts have no comma, colon or bracket. A member of an object counts two, an array or object eleven beside what it holds, since reading it takes as much memory as several numbers; an empty one is taken to hold a value.';

COMMENT ON FUNCTION "logloom_private"."with_health_endpoints"(jsonb) IS 'The report with what each endpoint shows of it: available (200, otherwise 503), status, checks. ready shows, beside queue and writer, each check that is not healthy, and why.';

COMMENT ON FUNCTION "logloom_private"."written_number"(text) IS 'The value of a number that is stored as its text, since written out it would be longer than that and than 40 letters; null for any other text.';

COMMENT ON FUNCTION "public"."claim_alert_notifications"(integer) IS 'What the edge function logloom-notify calls: takes due notifications, p_limit 1 to 100. One that is not settled in time is due again. Errors: PT400.';

COMMENT ON FUNCTION "public"."delete_logs"(text, text, text, boolean) IS 'Deletes the tenant''s records that match p_query_dsl from p_ts_from (inclusive) to p_ts_to (exclusive), dead letters included. A query that a search answers with warnings is refused. With p_dry_run (default true) nothing is deleted: records says how many match. Else a job deletes what was acknowledged before; list_log_retention_runs tells how far it is. Returns the run. Errors: PT400, PT401, PT408 (the dry run took over 15 s), PT429 (too many are open, or for a dry run too many searches running).';

COMMENT ON FUNCTION "public"."get_log_context"(uuid, timestamp with time zone, integer, integer) IS 'A record and those around it, of the same host and the same service (or likewise without), in time order: p_before before it and p_after after it, 0 to 499 (default 20), within a day; of large records fewer, some 4 MB a side. p_ts, its time, finds it at once. Errors: PT400, PT401, PT404, PT408, PT429.';

COMMENT ON FUNCTION "public"."health_report"() IS 'What the edge function health shows: status, timestamp and checks for queue (events, seconds), writer (milliseconds, seconds), partitions, alerts, pre_request and jobs, each with the reason where it is not healthy, and what each endpoint shows of it (available: 200, otherwise 503). Thresholds: logloom_private.settings and job_limits.';

COMMENT ON FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
  with time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb, integer) IS 'What the edge function ingest calls, once a request. The caller is p_key_digest (hex SHA-256 of an API key), or who p_claims (of a token whose signature was verified) name, or p_tenant_id. Events are parallel arrays; p_ts is of full length, null where missing; without p_ts the call only authenticates and tells the limits. p_positions: index in the request of each event, null when nothing was rejected before; p_rejected, p_errors: what was. p_slice: number, from 0, of this part of a request that is committed in several calls with one idempotency key. p_cut: events of which a part was cut off, since the record would be larger than max_record_bytes or max_record_values allow. Returns the answer to the client {success, ingested, rejected, cut, errors}. Errors: PT401, PT409, PT413, PT429, PT503; statement_timeout is the enqueue timeout of the watermark.';

COMMENT ON FUNCTION "public"."list_alert_history"(text, uuid, text, text, boolean, integer, uuid) IS 'Alerts of the tenant, newest first: of one rule, triggered from p_ts_from to before p_ts_to, acknowledged or not, where given. p_limit 1 to 1000 (default 100), p_after: alert_id of the last item of the page before. With long groups a page may have fewer; the one after the last has none. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."log_stats"(text, text, text, integer) IS 'The aggregates of p_query_dsl, count() where it has none: a row for each group, {group, value, values: {name: number}, total_groups, warnings}, largest first, of buckets of time the oldest first; one row with group {} without by. For patterns a row for each pattern, values {count, first, last, example}. p_limit 1 to 1000 (default 100); rows with long values end after 8 MB, and total_groups says how many there are. Errors: PT400, PT401, PT408, PT429.';

COMMENT ON FUNCTION "public"."search_logs"(text, text, text, integer, text, text) IS 'A page of records that match p_query_dsl in [p_ts_from, p_ts_to), by default the last hour. p_order: desc (newest first, the default) or asc. p_limit 1 to 1000 (default 100). p_cursor: next_cursor of the page before; it keeps the range of the first page. A page of a long range or of large records (some 8 MB) may end early, with fewer records and a next_cursor: only null says that there is no more. Errors: PT400, PT401, PT408 (took longer than 15 s).';

COMMENT ON FUNCTION "public"."settle_alert_notification"(uuid, uuid, text, integer, text, integer) IS 'What the edge function logloom-notify calls after an attempt. p_outcome: delivered; retry, which is tried again after a back-off, or p_retry_after seconds where that is longer; failed, which is given up. p_status: HTTP or SMTP status. Errors: PT400.';

COMMENT ON FUNCTION "public"."tail_logs"(text, text, integer, integer) IS 'Records that match p_query_dsl as they become visible, late ones included. Without p_cursor: the newest p_backlog (0 to 1000, default 0) records of the last 24 hours, oldest first, of large ones as many as make 8 MB, and the cursor of now. p_limit 1 to 1000 (default 100). Errors: PT400, PT401, PT408.';

COMMENT ON TABLE "logloom_private"."notify_endpoint" IS 'Where the edge function logloom-notify is, and the secret that it knows its caller by.';

REVOKE ALL ON FUNCTION "logloom_private"."accepted_answer"(integer, integer, json, integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."age_reason"(interval, interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."answered_bytes"(public.logloom_log_record[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."audience_is_valid"(jsonb, text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."bare_record_bytes"(text, timestamp WITH time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."bytes_of_record"(logloom.logs) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."chunk_end"(text, date, integer, integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."chunk_sizes"(logloom_private.sealed_chunks, integer[]) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."compare_chunk"(text, bigint, timestamp WITH time zone[], timestamp
    WITH time zone[], bigint[], uuid[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer[])
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."copied_columns_sql"(text[], boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."current_client_id"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."cut_record"(public.logloom_log_record, bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."due_notifications"() FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."enqueue"(text, uuid, logloom_private.ingest_request, timestamp WITH time zone, integer[], timestamp WITH time zone, timestamp WITH time zone)
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."fetched_page"(text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."fill_mask"(text, bytea, bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."fill_masks"(text[], integer[], bytea, text) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."first_records_sql"(text, logloom_private.compiled_query, timestamp WITH time zone, timestamp WITH time zone, text, integer, text, timestamp
    WITH time zone, uuid, text, boolean, bigint)
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."fitting_sql"(text, text, text, text, bigint, text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."has_more_values"(jsonb, integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."health_grade"(text, text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."is_string_or_uri"(jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."largest_record"(logloom_private.sealed_chunks) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."log_neighbours"(public.logloom_log_record, integer, text, bigint) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."log_page_sql"(text, logloom_private.compiled_query, tstzrange, integer, text, timestamp WITH time zone, uuid, boolean, boolean, bigint, boolean)
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."log_tail_sql"(text, logloom_private.compiled_query, integer, bigint, uuid, bigint, bigint, boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."measured_events"(text, timestamp WITH time zone, logloom_private.ingest_request) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."members_of"(jsonb, text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."next_notifications"(integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."numeric_date"(jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."page_bytes"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."page_bytes"() TO "authenticated", "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."provision_tenant"(text, jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."reads_again"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."reads_again"(text) TO "authenticated", "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."record_size_sql"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."refuse_warnings"(logloom_private.compiled_query) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."require_lasting_user"(jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."require_writing_client"(jsonb) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."require_writing_client"(jsonb) TO "authenticated", "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."resolve_tenant_to_change"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."resolve_tenant_to_change"(text) TO "authenticated", "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."rows_in_turn"(text, timestamp WITH time zone, timestamp WITH time zone, text, text, text, integer, boolean, bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."rows_sql"(text, timestamp WITH time zone, timestamp WITH time zone, text, text, text, integer, boolean, bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."sealed_arrivals"(text, bigint, uuid, bigint, timestamp WITH time zone, jsonb, text, integer, bigint) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."sealed_page"(text, timestamp WITH time zone, timestamp WITH time zone, jsonb, text, integer, text, timestamp WITH time zone, uuid, text, bigint)
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."sent_claims"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."sent_claims"(text) TO "authenticated", "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."service_operations"() FROM "authenticated";

GRANT EXECUTE ON FUNCTION "logloom_private"."service_operations"() TO "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."service_operations"() FROM "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."service_operations"() TO "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."service_token_is_valid"(jsonb) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."service_token_is_valid"(jsonb) TO "authenticated", "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."short_number"(numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."silence_reason"(text, interval, interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."sized_columns_sql"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."sized_rows_sql"(text, text, bigint, text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."small_sql"(text, text, text, integer, bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."those_that_fit"(public.logloom_log_record[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."token_is_current"(jsonb, interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."unconfirmed_address"(text, text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."unhealthy_checks"(jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."values_in"(text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."written_number"(text) FROM PUBLIC;

GRANT EXECUTE
  ON FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
    WITH time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb, integer)
  TO "service_role";

REVOKE ALL ("asked_at") ON TABLE "logloom"."alert_rules" FROM "authenticated";

GRANT UPDATE ("asked_at") ON TABLE "logloom"."alert_rules" TO "authenticated";

REVOKE ALL ("asked_at") ON TABLE "logloom"."alert_rules" FROM "service_role";

GRANT UPDATE ("asked_at") ON TABLE "logloom"."alert_rules" TO "service_role";

do $$
begin
  perform set_config('lock_timeout', '30s', true);
  alter table logloom.audit_events
    alter column client_id set default logloom_private.current_client_id();
  perform set_config('lock_timeout', '0', true);
end;
$$;

select logloom_private.bring_to_nodes();
