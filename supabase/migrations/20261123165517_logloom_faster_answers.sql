-- Groups, patterns, series and lists of fields are answered from what blocks count.

set local check_function_bodies = off;

do $$
begin
  -- The table has one row, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  alter table logloom_private.settings
    add column search_stage_templates integer not null default 500000,
    add column writer_run_limit interval not null default '10 seconds',
    add column provision_by_secret_key boolean not null default false;
  alter table logloom_private.settings rename column search_turn to search_page_time;
  alter table logloom_private.settings rename column tail_turn to tail_page_time;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $$
begin
  -- No table has a column of this type.
  alter type logloom_private.counted_source
    drop attribute number_sql, drop attribute double_sql,
    add attribute keys_sql text[], add attribute has_numbers boolean;
end;
$$;

-- PostgreSQL from 17.12 on refuses a further column of plans while a function has a default of a type
-- that holds a row of them. It is made anew below.
drop function logloom_private.ingest(
  logloom_private.ingest_request, logloom_private.ingest_state
);

-- Ingest tokens: their limits, their table. Their indexes and comments come from the generator.
do $$
begin
  -- The tables have a few rows, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  alter table logloom_private.settings
    add column ingest_token_lifetime interval not null default '15 minutes';
  alter table logloom.plans
    add column max_ingest_tokens integer not null default 10000,
    add column ingest_tokens_per_minute integer not null default 2000;
  alter table logloom.audit_events
    drop constraint audit_events_action_is_known,
    add constraint audit_events_action_is_known check (
      action in (
        'api_key.created', 'api_key.changed', 'api_key.revoked', 'api_key.deleted',
        'ingest_token.created',
        'member.added', 'member.changed', 'member.removed',
        'settings.changed', 'plan.changed',
        'logs.deletion_requested', 'logs.deletion_finished'
      )
    );
  alter table logloom.api_keys
    drop constraint api_keys_scopes_are_known,
    add constraint api_keys_scopes_are_known
    check (scopes <@ '{ingest, read}' and cardinality(scopes) > 0);
  perform set_config('lock_timeout', '0', true);
  -- No table has a column of this type.
  alter type logloom_private.ingest_state add attribute service text;
end;
$$;

update logloom.plans p
set max_ingest_tokens = n.max_ingest_tokens, ingest_tokens_per_minute = n.ingest_tokens_per_minute
from (values ('free', 100, 20), ('pro', 1000, 200)) n (
  plan_id, max_ingest_tokens, ingest_tokens_per_minute
)
where p.plan_id = n.plan_id;

create table logloom_private.ingest_tokens (
  token_digest bytea primary key,
  tenant_id text not null references logloom.tenants on delete cascade,
  service text not null,
  created_by text,
  session_id text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint ingest_tokens_digest_is_sha256 check (length(token_digest) = 32)
);

create type public.logloom_ingest_token as (token text, expires_at timestamptz, service text);

create type logloom_private.reading_scope as (
  tenant_id text,
  operations text[]
);

comment on type logloom_private.reading_scope is
  'What a reader may see: records of tenant_id, by operations (null: all that read).';

DROP FUNCTION "logloom_private"."authenticate_sender"(text, text, jsonb);

DROP FUNCTION "logloom_private"."block_end"(text, date, integer, integer);

DROP FUNCTION "logloom_private"."ingest_each"(json);

DROP FUNCTION "logloom_private"."log_fields_sample"(text, logloom_private.compiled_query);

DROP FUNCTION "logloom_private"."new_api_key"();

DROP FUNCTION "logloom_private"."numbers_source"(text, logloom_private.compiled_query, timestamp WITH time zone, text);

DROP FUNCTION "logloom_private"."query_aggregate_sql"(jsonb, text, text, text);

DROP FUNCTION "logloom_private"."query_field"(text, integer);

DROP FUNCTION "logloom_private"."query_parse_aggregate"(logloom_private.query_state);

DROP FUNCTION "logloom_private"."read_log"(uuid, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."read_log_context"(uuid, timestamp WITH time zone, integer, integer);

DROP FUNCTION "logloom_private"."read_log_fields"(text, text, text);

DROP FUNCTION "logloom_private"."read_log_histogram"(text, text, text, integer);

DROP FUNCTION "logloom_private"."read_log_page"(text, text, text, integer, text, text);

DROP FUNCTION "logloom_private"."read_log_series"(text, text, text, integer);

DROP FUNCTION "logloom_private"."read_log_stats"(text, text, text, integer);

DROP FUNCTION "logloom_private"."read_log_tail"(text, text, integer, integer);

DROP FUNCTION "logloom_private"."read_query_validity"(text);

DROP FUNCTION "logloom_private"."reject_events_out_of_range"(logloom_private.ingest_request, logloom_private.ingest_state);

DROP FUNCTION "logloom_private"."sealed_numbers"(text, timestamp WITH time zone, timestamp WITH time zone, jsonb, text, boolean, boolean);

DROP FUNCTION "logloom_private"."watermark"(timestamp WITH time zone);

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
    delete from logloom_private.ingest_tokens t where t.tenant_id = v_tenant_id;
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.any_bits (
  p_block logloom_private.blocks,
  p_leaf  jsonb
)
  RETURNS bit varying[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  -- Of an attribute that is no scalar, as of a record that has it alone.
  v_attribute_test constant text := format(
    'case when left(l.value, 1) in (''{'', ''['') then %s else %s end',
    logloom_private.query_sql(p_leaf, 'l'),
    logloom_private.query_text_test(p_leaf, '(l.attrs #>> ''{}'')')
  );
  v_no_fields constant text := (
    select string_agg('null::text as ' || f, ', ')
    from unnest(logloom_private.query_text_columns()) f
  );
  v_column logloom_private.block_columns;
  v_values text[];
  v_codes "char"[];
  v_wide_codes smallint[];
  v_bits text;
  v_found varbit;
  v_result varbit[];
begin
  v_result := logloom_private.message_bits(p_block, p_leaf);
  execute 'select string_agg(repeat(case when '
    || logloom_private.query_text_test(p_leaf, 'l.service') || ' or '
    || logloom_private.query_text_test(p_leaf, 'l.level')
    || ' then ''1'' else ''0'' end, l.records), '''')'
    || ' from (select unnest($1) as service, unnest($2) as level, unnest($3) as records) l'
  into v_bits
  using p_block.run_services, p_block.run_levels, p_block.run_records;
  v_found := v_bits::varbit;
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name <> 'record_bytes'
  loop
    continue when not logloom_private.column_may_hold(
      v_column, coalesce(p_leaf -> 'template' ->> 'literal', ''),
      (p_leaf -> 'folds_case')::boolean
    );
    v_values := case v_column.kind when 'dictionary' then v_column.dictionary
      else logloom_private.column_texts(v_column) end;
    execute 'select string_agg(case when '
      || case when left(v_column.name, 5) = 'attrs' then v_attribute_test
        else logloom_private.query_text_test(p_leaf, 'l.value') end
      || ' then ''1'' else ''0'' end, '''') from (select '
      || case when left(v_column.name, 5) = 'attrs'
        then v_no_fields || ', v.value::jsonb as attrs, ' else '' end
      || 'v.value from (select unnest($1) as value) v) l'
    into v_bits
    using v_values;
    continue when strpos(v_bits, '1') = 0;
    if v_column.kind = 'dictionary' and v_column.codes is null and v_column.wide_codes is null then
      v_bits := repeat(v_bits, v_column.last - v_column.first + 1);
    elsif v_column.kind = 'dictionary' then
      v_values := string_to_array(v_bits, null);
      v_codes := v_column.codes;
      v_wide_codes := v_column.wide_codes;
      v_bits := (
        select string_agg(coalesce(v_values[coalesce(c.code + 129, c.wide_code)], '0'), '')
        from (
          select unnest(v_codes)::integer as code, unnest(v_wide_codes) as wide_code
        ) c
      );
    end if;
    v_found := v_found | (
      repeat('0', v_column.first - 1) || v_bits || repeat('0', p_block.records - v_column.last)
    )::varbit;
  end loop;
  return array[v_result[1] | v_found, v_result[2] | v_found];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.api_keys_errors()
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
    ('api_keys.no_room', 400, 'Plan limit exceeded: API keys (max %s)',
      'Revoke one that is no longer needed, or move to a larger plan.',
      'The plan''s `max_api_keys`: revoke one.'),
    ('api_keys.name_is_invalid', 400, 'Invalid API key name: 1 to 100 characters after trimming',
      'Name the key after the server that will use it.', '`p_name` is blank or too long.'),
    ('api_keys.expires_in_the_past', 400, 'Invalid p_expires_at: it is in the past',
      'Send a later time, or leave it out for a key that does not expire.', null),
    ('api_keys.scope_is_unknown', 400, 'Invalid p_scopes: ingest, read, or both',
      'Left out it is ["ingest"].', null),
    ('api_keys.overlap_is_out_of_range', 400, 'Invalid p_overlap_minutes: 0 to 10080',
      'Both keys work for so long; 10080 minutes are a week.', '`rotate_api_key`: a week at most.'),
    ('api_keys.not_active', 400, 'Invalid p_key_id: the API key is revoked or expired',
      'Create a new key.', '`rotate_api_key`: create a new key.'),
    ('api_keys.token_service_is_invalid', 400,
      'Invalid p_service: 1 to 200 characters after trimming',
      'The token sends for this service alone.', '`create_ingest_token`: it is blank or too long.'),
    ('api_keys.token_lifetime_is_out_of_range', 400, 'Invalid p_expires_in: 1 to %s seconds',
      'Make another token when this one has expired.',
      '`create_ingest_token`: `settings.ingest_token_lifetime` at most.'),
    ('api_keys.too_many_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s)',
      'Retry-After says when the next one expires. One token can serve many pages.',
      'The plan''s `max_ingest_tokens`.'),
    ('api_keys.too_many_new_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s per minute)',
      'Use a token until it expires. One token can serve many pages.',
      'The plan''s `ingest_tokens_per_minute`.'),
    ('api_keys.not_found', 404, 'API key not found',
      'list_api_keys shows the keys of this tenant.', 'The tenant has no such key.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.auth_session_is_there (
  p_session_id text
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sessions constant regclass := to_regclass('auth.sessions');
  v_is_there boolean;
begin
  if v_sessions is null or not pg_input_is_valid(p_session_id, 'uuid') then
    return null;
  end if;
  execute format('select exists (select from %s s where s.id = $1)', v_sessions)
  into v_is_there
  using p_session_id::uuid;
  return v_is_there;
exception when syntax_error_or_access_rule_violation then
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.authenticate_sender (
  p_tenant_id  text,
  p_key_digest text,
  p_claims     jsonb,
  OUT          tenant_id text,
  OUT          key_id uuid,
  OUT          service text
)
  RETURNS record
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key logloom.api_keys;
  v_token logloom_private.ingest_tokens;
begin
  if p_key_digest is not null then
    v_key := logloom_private.key_of_digest(p_key_digest);
    if v_key.key_id is not null then
      if not v_key.scopes @> '{ingest}' then
        perform logloom_private.refuse('callers.key_may_only_read');
      end if;
      perform logloom_private.note_key_use(v_key);
      authenticate_sender.tenant_id := v_key.tenant_id;
      authenticate_sender.key_id := v_key.key_id;
      return;
    end if;
    select t.* into v_token
    from logloom_private.ingest_tokens t
    where t.token_digest = decode(p_key_digest, 'hex');
    if not found then
      perform logloom_private.refuse('callers.key_is_unknown');
    elsif v_token.expires_at <= now() then
      perform logloom_private.refuse('callers.ingest_token_is_expired');
    elsif not logloom_private.ingest_token_is_alive(v_token) then
      perform logloom_private.refuse('callers.ingest_token_is_revoked');
    end if;
    authenticate_sender.tenant_id := v_token.tenant_id;
    authenticate_sender.service := v_token.service;
    return;
  end if;
  authenticate_sender.tenant_id := case
    when p_claims is not null then logloom_private.current_tenant_id(p_claims)
    when not logloom_private.is_being_deleted(p_tenant_id)
      then logloom_private.usable_id(p_tenant_id)
  end;
  if authenticate_sender.tenant_id is null then
    -- Whoever may send for any tenant is known.
    if p_claims is null and p_tenant_id is not null then
      perform logloom_private.refuse('ingest.tenant_is_not_known', p_tenant_id);
    end if;
    perform logloom_private.refuse('callers.not_known');
  end if;
  perform logloom_private.require_writing_client(p_claims);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.block_groups (
  p_block   logloom_private.blocks,
  p_bits    bit varying,
  p_by      text[],
  p_counts  boolean,
  p_key     text,
  p_exact   boolean,
  p_doubles boolean
)
  RETURNS TABLE (
    keys    text[],
    events  bigint,
    numbers bigint,
    total   numeric,
    minimum numeric,
    maximum numeric,
    doubles double precision[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names constant text[] := array(
    select b.name from unnest(p_by) b (name) where b.name not in ('service', 'level') order by 1
  );
  v_by_run constant boolean := cardinality(v_names) < cardinality(p_by);
  v_count constant bigint := bit_count(p_bits);
  v_columns logloom_private.block_columns[];
  v_number logloom_private.block_columns;
  v_keys text;
begin
  v_columns := array(
    select k
    from logloom_private.block_columns k
    where k.tenant_id = p_block.tenant_id and k.block_id = p_block.block_id
      and k.name = any(v_names) and k.kind = 'dictionary'
    order by k.name
  );
  if p_key is not null then
    select k.* into v_number
    from logloom_private.block_columns k
    where k.tenant_id = p_block.tenant_id and k.block_id = p_block.block_id
      and k.name in ('attrs', 'attrs.' || p_key) and k.dictionary is distinct from array['{}']
    order by k.name desc
    limit 1;
  end if;
  if cardinality(v_columns) < cardinality(v_names) or v_number.name = 'attrs'
    or v_count * 32 < p_block.records and cardinality(v_names) > 0
  then
    return query
    select r.*
    from logloom_private.read_groups(p_block, p_bits, p_by, p_counts, p_key, p_doubles) r;
    return;
  end if;

  v_keys := format('array[%s]::text[]', array_to_string(
    array(
      select case b.name
        when 'service' then '$3[g.run]'
        when 'level' then '$4[g.run]'
        else format('($5[%1$s]).dictionary[g.codes[%1$s]]', array_position(v_names, b.name))
      end
      from unnest(p_by) with ordinality b (name, n)
      order by b.n
    ),
    ', '
  ));
  if p_counts then
    return query execute format(
      $query$
        select %s, g.events, 0::bigint, null::numeric, null::numeric, null::numeric,
          null::double precision[]
        from %s g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.found_runs($1, $2, 1, $7)'
        else 'logloom_private.grouped_codes($1, $2, $5, $6, 1, $7, null::integer[], false, '
          || 'false)' end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, p_block.records;
  end if;
  if v_number.name is not null then
    return query execute format(
      $query$
        select %s, 0::bigint, g.events, g.total, g.minimum, g.maximum, g.doubles
        from %s $7, $8, %s, $9, $10) g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.run_numbers($1, $2,'
        else 'logloom_private.grouped_codes($1, $2, $5, $6,' end,
      case
        when v_number.numbers is not null then '$11'
        when v_number.wide_numbers is not null then '$12'
        when v_number.kind = 'dictionary' and not p_exact then '$14'
        else '$13'
      end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, v_number.first, v_number.last, p_exact, p_doubles, v_number.numbers,
      v_number.wide_numbers,
      case when v_number.kind not in ('numbers', case when p_exact then '' else 'dictionary' end)
        then logloom_private.column_numbers(v_number) end,
      -- Each value of a dictionary becomes a double once.
      case when v_number.kind = 'dictionary' and not p_exact
        then logloom_private.dictionary_numbers(v_number, array(
          select logloom_private.finite_double(logloom_private.json_number(d.value::jsonb))
          from unnest(v_number.dictionary) with ordinality d (value, n)
          order by d.n
        )) end;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.block_range (
  p_tenant_id text,
  p_day       date,
  p_share     integer,
  p_at_least  integer,
  OUT         first_ts timestamp with time zone,
  OUT         last_ts timestamp with time zone,
  OUT         last_id uuid
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_records integer;
  v_bytes bigint;
  v_sizes bigint[];
  v_ts timestamptz[];
  v_ids uuid[];
begin
  select s.* into v_settings from logloom_private.settings s;
  execute format(
    $query$
      select count(*), sum(w.size), array_agg(w.size), array_agg(w.ts), array_agg(w.id)
      from (
        select r.ts, r.id, r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint as size
        from (
          select
            l.ts, l.id,
            greatest(
              coalesce(l.record_bytes, octet_length(to_json(l)::text)),
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
      ) w
    $query$,
    p_tenant_id, v_from, v_to,
    greatest(v_settings.seal_block_records / p_share, 1)
  )
  into v_records, v_bytes, v_sizes, v_ts, v_ids;
  -- Mostly the bytes of few records are too many: the last ones are left out, without a second look
  -- at the rows.
  while v_records > p_at_least and v_bytes > v_settings.seal_block_bytes / p_share loop
    v_bytes := v_bytes - v_sizes[v_records];
    v_records := v_records - 1;
  end loop;
  if v_records > 0 then
    first_ts := v_ts[1];
    last_ts := v_ts[v_records];
    last_id := v_ids[v_records];
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.block_templates (
  p_block logloom_private.blocks,
  p_bits  bit varying
)
  RETURNS TABLE (
    template text,
    events   integer,
    first    integer,
    last     integer
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Read once: each use of what is stored reads it anew.
  v_template_records constant integer[] := p_block.template_records || '{}'::integer[];
begin
  -- A run whose records are not asked for is not read.
  return query
  with runs as materialized (
    select
      r.n, r.records, r.templates, r.texts, r.before, r.templates_before,
      bit_count(substring(p_bits from r.before + 1 for r.records)) as found
    from (
      select
        u.*,
        (sum(u.records) over w - u.records)::integer as before,
        (sum(u.templates) over w - u.templates)::integer as templates_before
      from unnest(p_block.run_records, p_block.run_templates, p_block.templates)
        with ordinality u (records, templates, texts, n)
      window w as (order by u.n rows unbounded preceding)
    ) r
  ), templates as materialized (
    select
      t.template, t.records, r.found = r.records as is_whole,
      r.before + (t.last - t.records)::integer as before
    from runs r
    cross join lateral (
      -- As they are stored: sorting them would take longer than all the rest.
      select u.*, sum(u.records) over (rows unbounded preceding) as last
      from (
        select
          unnest(string_to_array(r.texts, p_block.separator)) as template,
          unnest(
            v_template_records[r.templates_before + 1:r.templates_before + r.templates]
          ) as records
      ) u
    ) t
    where r.found > 0 and r.templates > 0 and t.records is not null
    union all
    select null, r.records, r.found = r.records, r.before
    from runs r
    where r.found > 0 and r.templates = 0
  )
  select t.template, t.records, t.before + 1, t.before + t.records
  from templates t
  where t.is_whole
  union all
  select
    t.template, bit_count(f.bits)::integer, t.before + position(b'1' in f.bits),
    t.before + length(rtrim(f.bits::text, '0'))
  from (select t.* from templates t where not t.is_whole) t
  cross join lateral (
    select substring(p_bits from t.before + 1 for t.records) as bits
    offset 0
  ) f
  where bit_count(f.bits) > 0;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.blocks_with_counts (
  p_tenant_id text,
  p_blocks    bigint[],
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_name      text
)
  RETURNS bigint[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_blocks)
      and c.first_ts >= p_from and c.last_ts < p_to
      and coalesce(
        (
          select k.kind = 'dictionary'
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = p_name
        ),
        -- A key without a column of its own may be among the others.
        p_name not like 'attrs.%' or not exists (
          select
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = 'attrs'
            and (k.kind <> 'dictionary' or k.dictionary <> array['{}'])
        )
      )
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
      'The token cannot be used, or its tenant is being deleted.'),
    ('callers.key_is_unknown', 401, 'Invalid token, API key, or missing tenant_id',
      'No such API key or ingest token: perhaps it is one of another project.', null),
    ('callers.key_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key was revoked: create_api_key makes another.', null),
    ('callers.key_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key has expired: rotate_api_key or create_api_key makes another.', null),
    ('callers.ingest_token_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The ingest token has expired: create_ingest_token makes another.', null),
    ('callers.ingest_token_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'Whoever made the ingest token may no longer send, or has signed out.', null),
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
    ('callers.operation_is_internal', 403, '%s is only for service_role',
      'Logloom''s functions call it with the project''s secret key.',
      'Only the edge functions may call it.'),
    ('callers.client_may_only_read', 403, 'The client that this token was issued to may only read',
      'Whoever runs the project lists its client_id in logloom_private.settings.writing_clients.',
      'The token was issued to an OAuth client (claim `client_id`) that is not listed '
        '([identity.md](../background/identity.md#oauth-clients)).'),
    ('callers.key_may_only_read', 403, 'This API key may only read',
      'create_api_key makes one that sends: p_scopes ["ingest"].', null),
    ('callers.key_may_only_send', 403, 'This API key may only send',
      'create_api_key makes one that reads: p_scopes ["read"].', null),
    ('callers.operation_is_outside', 403, '%s is not open to this caller',
      'What reads by it is limited to other operations.', null),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST with a JSON object of parameters.',
      'An operation is called by another method than `POST`.'),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: name one where the operation takes p_tenant_id.',
      '`service_role` belongs to no tenant and must name one; it cannot call operations without '
        '`p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, 'It is not a valid tenant id.'),
    ('callers.role_is_missing', 403, 'This requires the role %s',
      'Ask an owner of the tenant; list_tenant_members says who that is.',
      'The caller''s role in the tenant is too low: `member`, `admin`, `owner` '
        '([identity.md](../background/identity.md)).')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_scope (
  p_scope     logloom_private.reading_scope,
  p_operation text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_scope is null then
    p_scope := logloom_private.scope_of_token();
  elsif not logloom_private.is_service_role() then
    perform logloom_private.refuse('callers.operation_is_internal', p_operation);
  end if;
  if p_operation <> all (p_scope.operations) then
    perform logloom_private.refuse('callers.operation_is_outside', p_operation);
  end if;
  return p_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_may_hold (
  p_column     logloom_private.block_columns,
  p_literal    text,
  p_folds_case boolean
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_texts text;
begin
  if p_literal = '' then
    return true;
  elsif p_column.kind = 'numbers' then
    return p_literal ~ '^[-0]*$';
  elsif p_column.kind <> 'templated' and strpos(p_literal, '0') > 0
    -- Attributes are JSON texts, in which these are written otherwise.
    or left(p_column.name, 5) = 'attrs' and p_literal ~ '["\\\u0001-\u001f\u007f]'
  then
    return true;
  end if;
  v_texts := array_to_string(
    case p_column.kind when 'texts' then p_column.texts else p_column.dictionary end, e'\x1f'
  );
  return strpos(
    case when p_folds_case then lower(v_texts collate pg_c_utf8) else v_texts end, p_literal
  ) > 0;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_numbers (
  p_column logloom_private.block_columns
)
  RETURNS numeric[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_column.kind = 'dictionary' then
    return logloom_private.dictionary_numbers(p_column, array(
      select logloom_private.json_number(d.value::jsonb)
      from unnest(p_column.dictionary) with ordinality d (value, n)
      order by d.n
    ));
  end if;
  return array(
    select logloom_private.json_number(t.value::jsonb)
    from unnest(logloom_private.column_texts(p_column)) with ordinality t (value, n)
    order by t.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.dictionary_numbers (
  p_column logloom_private.block_columns,
  p_each   anyarray
)
  RETURNS anyarray
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
begin
  if p_column.codes is not null then
    return array(select p_each[unnest(p_column.codes)::integer + 129]);
  elsif p_column.wide_codes is not null then
    return array(select p_each[unnest(p_column.wide_codes)]);
  end if;
  return array_fill(p_each[1], array[p_column.last - p_column.first + 1]);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_block (
  p_block   logloom_private.blocks,
  p_records logloom_private.record_arrays,
  OUT       o_block logloom_private.blocks,
  OUT       o_columns logloom_private.block_columns[]
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  AS $function$
declare
  v_formats constant smallint[] := logloom_private.block_formats();
  v_names constant text[] := logloom_private.column_fields();
  v_column logloom_private.block_columns;
begin
  o_block := p_block;
  o_block.format := v_formats[cardinality(v_formats)];
  o_block.weight := logloom_private.weight_of(p_records);
  select min(r.ts), max(r.ts), min(r.write_seq), max(r.write_seq)
  into o_block.first_ts, o_block.last_ts, o_block.first_write_seq, o_block.last_write_seq
  from (select unnest(p_records.ts) as ts, unnest(p_records.write_seqs) as write_seq) r;
  o_block := logloom_private.encode_times(o_block, p_records.ts);
  o_block := logloom_private.encode_ids(
    o_block, p_records.ids, p_records.received_at, p_records.write_seqs
  );
  o_columns := logloom_private.encode_attributes(p_records.attrs);
  for v_at in 1..cardinality(v_names) loop
    v_column := logloom_private.encode_column(v_names[v_at], 1, (p_records.columns[v_at]).texts);
    if v_column.kind is not null then
      o_columns := o_columns || v_column;
    end if;
  end loop;
  o_block.checksum := logloom_private.block_checksum(o_block, o_columns);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_column (
  p_name   text,
  p_first  integer,
  p_values text[]
)
  RETURNS logloom_private.block_columns
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_values text[] := p_values;
  v_column logloom_private.block_columns;
  v_outer record;
  v_first integer := 1;
  v_last integer := cardinality(p_values);
begin
  if p_values[1] is null or p_values[v_last] is null then
    v_outer := logloom_private.outer_nulls(array_positions(p_values, null), v_last);
    if v_outer.before = v_last then
      return null;
    elsif p_name <> 'attrs' then
      v_first := 1 + v_outer.before;
      v_last := v_last - v_outer.after;
      v_values := p_values[v_first:v_last];
    end if;
  end if;
  v_column.name := p_name;
  v_column.first := p_first + v_first - 1;
  v_column.last := p_first + v_last - 1;
  v_column := logloom_private.shortest_column(v_column, v_values);
  if exists (
    select from unnest(logloom_private.record_fields()) f where f.name = p_name and f.bloom
  ) then
    if v_column.kind <> 'dictionary' then
      v_column.filter := logloom_private.value_filter(v_values);
    elsif cardinality(v_column.dictionary) > 256 then
      v_column.filter := logloom_private.value_filter(v_column.dictionary);
    end if;
  end if;
  return v_column;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_timeout()
  RETURNS interval
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    -- A bare number is milliseconds, as everywhere in PostgreSQL's settings.
    select max(
      (case when t.timeout ~ '^[0-9]+$' then t.timeout || ' ms' else t.timeout end)::interval
    )
    from (
      select split_part(c.setting, '=', 2) as timeout
      from pg_catalog.pg_proc p, unnest(p.proconfig) c (setting)
      where p.pronamespace = 'public'::regnamespace
        and p.proname in ('ingest_logs', 'ingest_requests', 'ingest_text')
        and c.setting like 'statement_timeout=%'
    ) t
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_page (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_bytes     bigint                           DEFAULT NULL::bigint,
  OUT         logs public.logloom_log_record[],
  OUT         last_ts timestamp with time zone,
  OUT         last_id uuid
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_staged constant boolean := jsonb_array_length(p_query.plan -> 'rows') > 0;
  v_parts tstzrange[];
  v_part tstzrange;
  v_left integer;
  v_rows text;
  v_sql text;
  v_deadline timestamptz;
  v_found public.logloom_log_record[];
  v_is_exact boolean;
  v_is_full boolean;
begin
  select clock_timestamp() + s.search_page_time, coalesce(p_bytes, s.max_page_bytes)
  into v_deadline, p_bytes
  from logloom_private.settings s;
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range, p_order, p_ts);
  v_parts := logloom_private.search_parts(p_tenant_id, p_query.ts_from, p_query.ts_to, p_order);
  -- The bound of an extraction is one of all that it reads.
  if v_is_staged and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(p_query.ts_from, p_query.ts_to)];
  end if;
  logs := '{}';
  foreach v_part in array v_parts loop
    p_query.ts_from := lower(v_part);
    p_query.ts_to := upper(v_part);
    v_left := p_limit + 1 - cardinality(logs);
    v_rows := logloom_private.first_records_sql(
      p_tenant_id, p_query, v_left, p_order, p_ts, p_id, p_bytes => p_bytes
    );
    -- Most pages have no large record, and adding up sizes costs: first as if there were none.
    foreach v_is_exact in array array[false, true] loop
      v_sql := logloom_private.page_sql(
        p_query, v_rows, format('l.ts %1$s, l.id %1$s', p_order), v_left, p_bytes, v_is_exact
      );
      -- After a single part nothing more is opened.
      v_found := case when cardinality(v_parts) = 1 then logloom_private.read_page(v_sql)
        else logloom_private.read_apart(v_sql) end;
      v_is_full := array_position(v_found, null) is not null;
      -- What is extracted was measured at once.
      exit when v_is_staged or not v_is_full;
    end loop;
    if v_is_full then
      v_found := array_remove(v_found, null);
    end if;
    logs := case when cardinality(logs) = 0 then v_found else logs || v_found end;
    if v_is_full or cardinality(logs) > p_limit then
      logs := logs[1:p_limit];
      last_ts := logs[cardinality(logs)].ts;
      last_id := logs[cardinality(logs)].id;
      exit;
    elsif v_part <> v_parts[cardinality(v_parts)] and clock_timestamp() > v_deadline then
      -- Before or after all records of the parts that are left.
      if p_order = 'desc' then
        last_ts := lower(v_part);
        last_id := '00000000-0000-0000-0000-000000000000';
      else
        last_ts := upper(v_part) - interval '1 microsecond';
        last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      exit;
    end if;
    if cardinality(v_parts) > 1 then
      p_bytes := p_bytes - logloom_private.answered_bytes(v_found);
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_runs (
  p_run_records integer[],
  p_bits        bit varying,
  p_first       integer,
  p_last        integer
)
  RETURNS TABLE (
    run      integer,
    first    integer,
    last     integer,
    events   bigint,
    is_whole boolean
  )
  LANGUAGE plpgsql
  STABLE
  ROWS 20
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
begin
  return query
  select f.run, f.first, f.last, f.events, f.events = f.last - f.first + 1
  from (
    select r.*, bit_count(substring(p_bits from r.first for r.last - r.first + 1)) as events
    from (
      select
        l.n::integer as run,
        greatest((sum(l.records) over w - l.records + 1)::integer, p_first) as first,
        least((sum(l.records) over w)::integer, p_last) as last
      from unnest(p_run_records) with ordinality l (records, n)
      window w as (order by l.n rows unbounded preceding)
    ) r
    where r.first <= r.last
  ) f
  where f.events > 0;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.granted_functions()
  RETURNS TABLE (
    roles text,
    names text[]
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select g.roles, g.names
  from (
    values
      ('public', array[
        'call_host_pre_request', 'callers_errors', 'check_operation', 'check_request',
        'error_named', 'errors', 'operations', 'refuse', 'requested_operation'
      ]),
      ('anon, authenticated, service_role', array[
        'claims', 'current_tenant_id', 'current_user_id', 'is_service_role', 'require_user_id',
        'resolve_tenant', 'usable_id'
      ]),
      ('authenticated, service_role', array[
        'abolish_tenant', 'acting_role', 'alert_rule_of', 'api_key_status', 'change_member',
        'check_query', 'check_settings', 'confirm_address', 'distinct_destinations',
        'effective_settings', 'enqueue_rule_test', 'enroll_member', 'found_tenant',
        'is_being_deleted', 'issue_api_key', 'issue_ingest_token', 'list_limit', 'my_stored',
        'my_usage', 'new_api_key', 'note_saved_search_run', 'list_bytes', 'page_of_addresses',
        'page_of_deliveries', 'page_place', 'plan_feature', 'plan_of', 'preview_windows',
        'provision_current_tenant', 'put_back_delivery', 'read_log', 'read_log_context',
        'read_log_fields', 'read_log_histogram', 'read_log_page', 'read_log_series',
        'read_log_stats', 'read_log_tail', 'read_members', 'read_query_validity',
        'read_saved_search', 'reads_again', 'refuse_for_now', 'refuse_saved_search',
        'refuse_with_headers', 'replace_webhook_secret', 'request_deletion', 'require_parameter',
        'require_role', 'require_room_for', 'require_room_for_api_key', 'require_writing_client',
        'resolve_tenant_to_change', 'retention_days', 'saved_search_of', 'sent_claims',
        'service_operations', 'tags_are_valid', 'tenant_with_plan', 'time_parameter',
        'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_due_notifications', 'ingest', 'ingest_each', 'read_by_key', 'read_health',
        'run_writer_in_place', 'settle_claim'
      ])
  ) g (roles, names);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.grouped_codes (
  p_run_records integer[],
  p_bits        bit varying,
  p_columns     logloom_private.block_columns[],
  p_by_run      boolean,
  p_first       integer,
  p_last        integer,
  p_numbers     anyarray,
  p_exact       boolean,
  p_doubles     boolean
)
  RETURNS TABLE (
    run     integer,
    codes   integer[],
    events  bigint,
    total   numeric,
    minimum numeric,
    maximum numeric,
    doubles double precision[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '16MB'
  AS $function$
declare
  v_has_numbers constant boolean := p_numbers is not null;
  v_column logloom_private.block_columns;
  v_arrays text := '';
  v_values text := '';
  v_codes text := '';
  v_by text := '1';
begin
  for n in 1..cardinality(p_columns) loop
    v_column := p_columns[n];
    v_arrays := v_arrays || case
      when v_column.codes is not null then format('($4[%1$s]).codes || ''{}'' as c%1$s, ', n)
      when v_column.wide_codes is not null
        then format('($4[%1$s]).wide_codes || ''{}'' as c%1$s, ', n)
      else format(
        'array_fill(1::smallint, array[%s]) as c%s, ', v_column.last - v_column.first + 1, n
      )
    end;
    v_values := v_values || format(
      ', unnest(array_fill(null::%2$s, array[greatest(least(%3$s, s.last + 1) - s.first, 0)]) '
        || '|| a.c%1$s[s.first - %3$s + 1:s.last - %3$s + 1]) as c%1$s',
      n, case when v_column.codes is not null then '"char"' else 'smallint' end, v_column.first
    );
    v_codes := v_codes || case when n > 1 then ', ' else '' end
      || format('u.c%s::integer', n)
      || case when v_column.codes is not null then ' + 129' else '' end;
    v_by := v_by || format(', u.c%s', n);
  end loop;
  -- The records of a run follow one another; a run that has none of p_bits is not read. "|| '{}'"
  -- makes one array of which each takes its part.
  return query execute format(
    $query$
      select %1$s, array[%2$s]::integer[], count(*), %3$s
      from (
        select s.run, generate_series(s.first, s.last) as n%4$s
        from (select %5$s $5 || '{}' as numbers offset 0) a
        cross join logloom_private.found_runs($6, $1, $2, $3) s
      ) u
      where get_bit($1, u.n - 1) = 1 %6$s
      group by %7$s
    $query$,
    case when p_by_run then 'u.run' else 'null::integer' end,
    v_codes,
    case when v_has_numbers and p_exact
      then 'sum(u.number)::numeric, min(u.number)::numeric, max(u.number)::numeric'
      else 'null::numeric, null::numeric, null::numeric' end
      || case
        when not v_has_numbers or not p_doubles then ', null::double precision[]'
        when pg_typeof(p_numbers) = 'numeric[]'::regtype
          then ', array_agg(logloom_private.finite_double(u.number))'
        else ', array_agg(u.number::double precision)'
      end,
    v_values || case when v_has_numbers
      then ', unnest(a.numbers[s.first - $2 + 1:s.last - $2 + 1]) as number' else '' end,
    v_arrays,
    case when v_has_numbers then 'and u.number is not null' else '' end,
    v_by
  )
  using p_bits, p_first, p_last, p_columns, p_numbers, p_run_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.groups_source (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_rows_from timestamp with time zone,
  p_key       text                           DEFAULT NULL::text
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_by constant jsonb := p_query.plan -> 'by';
  v_exact constant boolean := p_key is not null and jsonb_path_exists(
    p_query.plan -> 'aggregates', '$[*] ? (@.fraction == null && @.field != null)'
  );
  v_percentiles constant jsonb := (
    select jsonb_object_agg(a ->> 'kind', a -> 'fraction')
    from jsonb_array_elements(p_query.plan -> 'aggregates') a
    where p_key is not null and a ->> 'fraction' is not null
  );
  v_doubles constant boolean := v_percentiles is not null;
  v_names constant text[] := array(
    select concat_ws('.', f.field ->> 'field', f.field -> 'path' ->> 0)
    from jsonb_array_elements(v_by) with ordinality f (field, n)
    order by f.n
  );
  v_by_names constant text[] := array(select distinct n from unnest(v_names) n order by 1);
  v_group constant text := array_to_string(
    array(select format('l.k%s, ', n) from generate_subscripts(v_names, 1) n order by n), ''
  );
  v_keys text;
  v_sql text;
begin
  if jsonb_path_exists(v_by, '$[*] ? (@.path.size() > 1)')
    or exists (
      select
      from jsonb_array_elements(v_by) f
      where f ->> 'field' <> all(
        logloom_private.column_fields() || array['attrs', 'level', 'service']
      )
    )
  then
    return null;
  end if;
  v_keys := (
    select string_agg(
      format(
        case when k.name like 'attrs.%' then '(g.keys[%s]::jsonb #>> ''{}'')' else 'g.keys[%s]' end
          || ' as k%s, ',
        array_position(v_by_names, k.name), k.n
      ),
      '' order by k.n
    )
    from unnest(v_names) with ordinality k (name, n)
  );
  v_sql := format(
    'logloom_private.sealed_groups(%s, %L, %L, %L, %L, %L, %L, %L)',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    p_query.ts_from, p_query.ts_to, p_query.tree, v_by_names, p_key, v_exact, v_doubles
  );
  if p_key is null then
    v_sql := format('(select s.keys, sum(s.events) as events from %s s group by s.keys)', v_sql);
  end if;
  v_sql := concat(
    'select ', v_keys, 'g.events',
    case when v_exact then ', g.numbers, g.total, g.minimum, g.maximum' end,
    case when v_doubles then ', g.doubles' end, ' from ', v_sql, ' g'
  );
  if p_rows_from < p_query.ts_to then
    v_keys := (
      select string_agg(format('%s as k%s, ', b.sql, b.n), '' order by b.n)
      from unnest(p_query.by_sql) with ordinality b (sql, n)
    );
    v_sql := v_sql || concat(
      ' union all select ', v_group, case when p_key is null then '1' else 'count(*)' end,
      case when v_exact
        then ', count(l.number), sum(l.number), min(l.number), max(l.number)' end,
      case when v_doubles
        then ', array_agg(logloom_private.finite_double(l.number)) '
          || 'filter (where l.number is not null)' end,
      ' from (select ', v_keys,
      case when p_key is null then 'null'
        else format('logloom_private.json_number(l.attrs -> %L)', p_key) end,
      ' as number, date_bin(''10 minutes'', l.ts, ''epoch'') as part ',
      logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter,
        array_remove('ts'::text || v_names || ('attrs.' || p_key), null)
      ),
      ' offset 0) l',
      -- In parts, so that no array becomes long.
      case when p_key is not null then ' group by ' || v_group || 'l.part' end
    );
  end if;
  if v_doubles then
    v_sql := logloom_private.percentiles_sql(
      v_sql, array(select 'r.k' || n from generate_subscripts(v_names, 1) n order by n),
      v_percentiles
    );
  end if;
  return (
    'from (' || v_sql || ') l', 'coalesce(sum(l.events), 0)::double precision',
    array(select 'l.k' || n from generate_subscripts(v_names, 1) n order by n), p_key is not null
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_answer
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_plan logloom.plans;
  v_has_rate boolean;
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
begin
  if p_state is null then
    p_state := logloom_private.ingest_state(
      p_request.p_tenant_id, p_request.p_key_digest, p_request.p_claims, 1
    );
  end if;
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
  v_plan := p_state.plan;
  v_has_rate := num_nonnulls(v_plan.events_per_second, v_plan.requests_per_second) > 0;
  if v_has_rate then
    -- Without a lock: a request that is refused here holds nobody up and writes nothing.
    perform logloom_private.check_rate(p_state, b)
    from logloom_private.rate_buckets b
    where b.tenant_id = p_state.tenant_id;
  end if;
  if cardinality(p_request.p_ts) > p_state.batch_max_events
    or p_request.p_bytes > p_state.batch_max_bytes
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large', p_state.batch_max_events::text, p_state.batch_max_bytes::text
    );
  end if;
  if p_state.keeps_from > any (p_request.p_ts) or p_state.takes_to < any (p_request.p_ts)
    or p_state.service <> any (p_request.p_service)
  then
    p_request := logloom_private.reject_events(p_request, p_state);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  if p_state.service is not null then
    p_request.p_service := array_fill(p_state.service, array[v_answer.ingested]);
  end if;
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := json_strip_nulls(json_build_object(
    'success', v_answer.ingested > 0 or coalesce(p_request.p_rejected, 0) = 0,
    'ingested', v_answer.ingested,
    'rejected', coalesce(p_request.p_rejected, 0),
    'cut', nullif(p_request.p_cut, 0),
    'errors', case when p_request.p_rejected > 0 then coalesce(p_request.p_errors, '[]') end
  ));

  if not p_state.is_provisioned and num_nonnulls(p_request.p_key_digest, p_request.p_claims) = 0
    and not (select s.provision_by_secret_key from logloom_private.settings s)
  then
    perform logloom_private.refuse('ingest.tenant_is_not_known', p_state.tenant_id);
  end if;
  -- A repeat gets the first answer, also once a limit is reached.
  if p_request.p_idempotency_key is not null then
    v_earlier_answer := logloom_private.first_answer(
      p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice
    );
  end if;
  if v_answer.ingested > 0 and v_earlier_answer is null then
    if p_state.events >= v_plan.monthly_events_limit then
      perform logloom_private.refuse_over_limit(
        p_state, 'ingest.monthly_events_are_used_up', v_plan.monthly_events_limit,
        p_state.month_end
      );
    elsif p_state.bytes >= v_plan.monthly_bytes_limit then
      perform logloom_private.refuse_over_limit(
        p_state, 'ingest.monthly_bytes_are_used_up', v_plan.monthly_bytes_limit, p_state.month_end
      );
    elsif p_state.queue_is_full then
      perform logloom_private.refuse_with_headers(
        logloom_private.quota_headers(p_state, 0) || jsonb_build_object('Retry-After', '5'),
        'ingest.queue_is_full'
      );
    end if;
    if not p_state.is_provisioned then
      perform logloom_private.provision_tenant(p_state.tenant_id, p_request.p_claims);
    end if;
    -- Where nothing is stored, a repeat stores nothing either: every row kept costs the tenant an
    -- event of its plan.
    if p_request.p_idempotency_key is not null then
      v_earlier_answer := logloom_private.first_answer(
        p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice,
        v_answer.body
      );
    end if;
  end if;
  if v_earlier_answer is not null then
    return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
  end if;
  if v_has_rate then
    v_answer.headers := v_answer.headers || logloom_private.take_rate(p_state, v_answer.ingested);
  end if;
  if v_answer.ingested > 0 then
    perform logloom_private.enqueue(p_state, p_request);
  end if;
  return v_answer;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_each (
  p_requests text[]
)
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_text text;
  v_before logloom_private.ingest_request;
  v_request logloom_private.ingest_request;
  v_state logloom_private.ingest_state;
  v_accepted logloom_private.ingest_answer;
  v_answer json;
  v_answers json[] := '{}';
  v_sqlstate text;
  v_detail text;
  v_hint text;
begin
  foreach v_text in array p_requests loop
    -- A block for each: what refuses one request leaves the others as they are.
    begin
      v_request := logloom_private.request_of_text(v_text);
      if v_state is null
        or v_request.p_key_digest is distinct from v_before.p_key_digest
        or v_request.p_tenant_id is distinct from v_before.p_tenant_id
        or v_request.p_claims is distinct from v_before.p_claims
      then
        v_state := logloom_private.ingest_state(
          v_request.p_tenant_id, v_request.p_key_digest, v_request.p_claims,
          cardinality(p_requests)
        );
        v_before := v_request;
      end if;
      v_accepted := logloom_private.ingest(v_request, v_state);
      v_state.events := v_state.events + v_accepted.ingested;
      if v_accepted.ingested > 0 then
        v_state.bytes := v_state.bytes + coalesce(v_request.p_bytes, 0);
      end if;
      v_answer := json_build_object(
        'status', 200, 'headers', v_accepted.headers, 'body', v_accepted.body::text
      );
    exception when others then
      get stacked diagnostics
        v_sqlstate = returned_sqlstate, v_detail = pg_exception_detail,
        v_hint = pg_exception_hint;
      -- The note that the key was used went with what was refused.
      if v_request.p_key_digest is not null then
        v_state := null;
      end if;
      v_answer := case
        when v_sqlstate = 'PGRST' then json_build_object(
          'status', v_detail::json -> 'status', 'headers', v_detail::json -> 'headers',
          'body', sqlerrm
        )
        when v_sqlstate like 'PT%' then json_build_object(
          'status', substr(v_sqlstate, 3)::integer, 'headers', '{}'::json,
          'body', json_build_object(
            'code', v_sqlstate, 'message', sqlerrm, 'hint', nullif(v_hint, '')
          )::text
        )
        else json_build_object(
          'status', 500, 'headers', '{}'::json,
          'body', json_build_object('code', v_sqlstate, 'message', '')::text
        )
      end;
    end;
    v_answers := v_answers || v_answer;
  end loop;
  perform set_config('response.headers', '[]', true);
  return array_to_json(v_answers);
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
    ('ingest.tenant_is_not_known', 404, 'There is no tenant %s',
      'Make it with add_tenant_member or create_api_key, or set provision_by_secret_key in '
        'logloom_private.settings.',
      'A request with the project''s secret key names a tenant that there is not, or that is being '
        'deleted.'),
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
  p_tenant_id  text,
  p_key_digest text,
  p_claims     jsonb,
  p_requests   integer
)
  RETURNS logloom_private.ingest_state
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sender constant record :=
    logloom_private.authenticate_sender(p_tenant_id, p_key_digest, p_claims);
  v_plan constant logloom.plans := logloom_private.plan_of(v_sender.tenant_id);
  v_month constant timestamp := date_trunc('month', now() at time zone 'UTC');
  v_state logloom_private.ingest_state;
begin
  select
    v_sender.tenant_id, v_sender.key_id, v_plan,
    exists (select from logloom.tenants t where t.tenant_id = v_sender.tenant_id),
    -- As kept_from says, of the plan at hand: each call of a function is felt here.
    date_trunc('day', now(), 'UTC') - make_interval(hours => 24 * least(
      coalesce(
        (
          select c.retention_days
          from logloom.tenant_settings c
          where c.tenant_id = v_sender.tenant_id
        ),
        v_plan.retention_days_default
      ),
      v_plan.retention_days_max
    )),
    now() + s.ingest_future_limit, s.batch_max_events, s.batch_max_bytes, s.max_record_bytes,
    s.max_record_values, (v_month + interval '1 month') at time zone 'UTC', m.events, m.bytes,
    b.last_value - q.metered_through + p_requests - 1,
    -- The size of files, not a count: it costs the same however much is queued. A batch's row is
    -- more than a 4096th of the batch, so as long as the rows are few the rest need not be asked.
    pg_relation_size('logloom_private.queue_slot_' || q.open_slot)
    + coalesce(pg_relation_size('logloom_private.queue_slot_' || q.closed_slot), 0)
      >= s.queue_hard_limit_bytes / 4096
    and pg_table_size('logloom_private.queue_slot_' || q.open_slot)
    + coalesce(pg_table_size('logloom_private.queue_slot_' || q.closed_slot), 0)
      >= s.queue_hard_limit_bytes,
    case when h.last_succeeded_at > now() - s.writer_guard_silence then '{}'::jsonb
      else '{"X-Logloom-Writer": "silent"}' end,
    v_sender.service
  into v_state
  from logloom_private.queue_pointer q
  cross join logloom_private.settings s
  cross join logloom_private.queue_batch_id b
  left join logloom_private.job_heartbeats h on h.job = 'write_logs'
  cross join (
    select
      coalesce(sum(u.events), 0)::bigint as events, coalesce(sum(u.bytes), 0)::bigint as bytes
    from logloom.usage_days u
    where u.tenant_id = v_sender.tenant_id and u.day >= v_month::date
  ) m;

  -- The queue is looked at only when what it may hold could matter.
  if v_state.events + v_state.batches * v_state.batch_max_events >= v_plan.monthly_events_limit
    or v_state.bytes + v_state.batches * v_state.batch_max_bytes >= v_plan.monthly_bytes_limit
  then
    select coalesce(sum(u.events), 0), coalesce(sum(u.bytes), 0)
    into v_state.events, v_state.bytes
    from logloom_private.usage_of(v_sender.tenant_id, v_month::date) u;
  end if;
  return v_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_token_is_alive (
  p_token logloom_private.ingest_tokens
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return p_token.expires_at > now()
    and not logloom_private.is_being_deleted(p_token.tenant_id)
    and (
      p_token.created_by is null
      or logloom_private.acting_role(p_token.tenant_id, p_token.created_by) is not null
    )
    and (
      p_token.session_id is null
      or logloom_private.auth_session_is_there(p_token.session_id) is not false
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.insert_records (
  p_slot       smallint,
  p_batch_from bigint,
  p_batch_to   bigint,
  p_index_from integer,
  p_index_to   integer,
  p_write_seq  bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '64MB'
  AS $function$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
begin
  -- Tenant by tenant in the order of ts, which packs the pages of the primary key: by one number,
  -- since a second key is read from the record again at each comparison. Cast, so that what breaks
  -- a rule fails here.
  execute logloom_private.added_records_sql(format(
    $query$
      insert into logloom.logs as l (
        id, tenant_id, ts, received_at, write_seq, %2$s, record_bytes
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5, %3$s, e.record_bytes
      from (
        select
          q.id_prefix, q.tenant_seconds, q.tenant_id, q.received_at,
          generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, %4$s, unnest(q.record_bytes) as record_bytes
        from (
          -- Made once a batch, not once an event: that is what offset 0 is for.
          select
            b.*, left(b.batch_key::text, 32) as id_prefix,
            -- Three years apart: with thousands of tenants still exact to 0.1 ms.
            dense_rank() over (order by b.tenant_id collate "C") * 1e8::float8 as tenant_seconds
          from logloom_private.%1$I b
          where b.batch_id between $1 and $2
          offset 0
        ) q
      ) e
      where e.i between $3 and $4
      order by e.tenant_seconds + date_part('epoch', coalesce(e.ts, e.received_at))
    $query$,
    v_slot, logloom_private.written_fields_sql('%1$s'),
    logloom_private.written_fields_sql('e.%1$s%2$s'),
    logloom_private.written_fields_sql('unnest(q.%1$s) as %1$s')
  ))
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.issue_ingest_token (
  p_tenant_id text,
  p_service   text,
  p_seconds   integer
)
  RETURNS public.logloom_ingest_token
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads or writes tokens and settings
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_plan constant logloom.plans := logloom_private.plan_of(v_tenant_id);
  v_longest constant integer := (
    select least(900, extract(epoch from s.ingest_token_lifetime))
    from logloom_private.settings s
  );
  v_seconds constant integer := coalesce(p_seconds, v_longest);
  v_session_id constant text := logloom_private.claims() ->> 'session_id';
  v_token constant text := logloom_private.new_api_key('llt_');
  v_tokens record;
  v_result public.logloom_ingest_token;
begin
  perform logloom_private.require_parameter('p_service', p_service is null);
  if length(p_service) not between 1 and 200 then
    perform logloom_private.refuse('api_keys.token_service_is_invalid');
  end if;
  if v_seconds not between 1 and v_longest then
    perform logloom_private.refuse('api_keys.token_lifetime_is_out_of_range', v_longest::text);
  end if;
  perform logloom_private.hold_tenant(v_tenant_id);
  select
    count(*) filter (where t.expires_at > now()) as live,
    count(*) filter (where t.created_at > now() - interval '1 minute') as new,
    extract(epoch from min(t.expires_at) filter (where t.expires_at > now()) - now()) as next_end,
    extract(
      epoch from min(t.created_at) filter (where t.created_at > now() - interval '1 minute')
        + interval '1 minute' - now()
    ) as minute_end
  into v_tokens
  from logloom_private.ingest_tokens t
  where t.tenant_id = v_tenant_id;
  if v_tokens.live >= v_plan.max_ingest_tokens then
    perform logloom_private.refuse_for_now(
      ceil(v_tokens.next_end)::integer, 'api_keys.too_many_tokens', v_plan.max_ingest_tokens::text
    );
  elsif v_tokens.new >= v_plan.ingest_tokens_per_minute then
    perform logloom_private.refuse_for_now(
      ceil(v_tokens.minute_end)::integer, 'api_keys.too_many_new_tokens',
      v_plan.ingest_tokens_per_minute::text
    );
  end if;
  insert into logloom_private.ingest_tokens (
    token_digest, tenant_id, service, created_by, session_id, expires_at
  )
  values (
    sha256(convert_to(v_token, 'UTF8')), v_tenant_id, p_service,
    case when not logloom_private.is_service_role() then logloom_private.current_user_id() end,
    -- Another service's session is none of Supabase Auth.
    case when logloom_private.auth_session_is_there(v_session_id) then v_session_id end,
    now() + make_interval(secs => v_seconds)
  )
  returning v_token, expires_at, service into v_result;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'ingest_token.created', p_service,
    jsonb_build_object('expires_at', v_result.expires_at)
  );
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.key_of_digest (
  p_key_digest text
)
  RETURNS logloom.api_keys
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key logloom.api_keys;
begin
  select k.* into v_key from logloom.api_keys k where k.key_digest = decode(p_key_digest, 'hex');
  if v_key.revoked_at is not null then
    perform logloom_private.refuse('callers.key_is_revoked');
  elsif v_key.expires_at <= now() then
    perform logloom_private.refuse('callers.key_is_expired');
  end if;
  return v_key;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.last_write_to (
  p_day date
)
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (select max(a.write_seq) from logloom_private.log_writes a where a.day = p_day);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_fields_sample_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query
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
  return logloom_private.sized_rows_sql(
    logloom_private.first_records_sql(
      p_tenant_id, p_query, v_settings.search_sample_records, 'desc',
      p_reads => array(
        select f.name from unnest(logloom_private.record_fields()) f where f.place is not null
      ) || array['attrs', 'msg.exists', 'record_bytes'],
      p_bytes => v_settings.search_sample_bytes
    ),
    'l.ts desc, l.id desc', v_settings.search_sample_bytes
  ) || ' where l.fits';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_fields_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- An array is not kept: it may be as large as its record.
  v_attributes constant text :=
    '(select j.key, jsonb_typeof(j.value) as type, '
    || 'case jsonb_typeof(j.value) when ''object'' then j.value end as object, '
    || 'case when jsonb_typeof(j.value) in (''string'', ''number'', ''boolean'') '
    || 'then left(j.value #>> ''{}'', 201) end as value from jsonb_each(%s) j limit 200)';
  v_settings logloom_private.settings;
  v_sampled text;
  v_present text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select
    string_agg(format('left(l.%1$s, 201) as %1$s', f.name), ', '),
    string_agg(format('(%1$L, ''string'', s.%1$s)', f.name), ', ')
  into v_sampled, v_present
  from unnest(logloom_private.record_fields()) f
  where f.place is not null;
  return format(
    $query$
      with recursive sample as materialized (
        -- One character more than a value that is listed may have.
        select %5$s, l.msg is not null as has_msg, l.attrs
        %1$s
      ), attributes as (
        select
          logloom_private.query_segment(a.key) as path, 1 as depth, a.type, a.object, a.value
        from sample s, lateral %7$s a
        where length(a.key) <= 200
        union all
        select
          p.path || '.' || logloom_private.query_segment(a.key), p.depth + 1,
          a.type, a.object, a.value
        from attributes p, lateral %8$s a
        where p.depth < 5 and length(p.path) + length(a.key) <= 200
      ), present as (
        select f.field, f.type, f.value
        from sample s,
          lateral (
            values
              ('ts', 'timestamp', null),
              ('received_at', 'timestamp', null),
              ('id', 'uuid', null),
              %6$s
          ) f (field, type, value)
        where f.value is not null or f.type <> 'string'
        union all
        select 'msg', 'string', null from sample s where s.has_msg
        union all
        select 'attrs.' || a.path, a.type, a.value
        -- The recursion ends when nobody asks for more.
        from (select t.* from attributes t limit %4$s) a
        where a.type not in ('null', 'object')
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
    logloom_private.log_fields_sample_sql(p_tenant_id, p_query),
    v_settings.search_sample_fields, v_settings.search_sample_values,
    v_settings.search_sample_cells,
    v_sampled, v_present,
    format(v_attributes, 's.attrs'), format(v_attributes, 'p.object')
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_patterns_of (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_records integer;
  v_templates integer;
  v_columns constant jsonb := jsonb_build_object(
    'count', 'p.count', 'first', 'p.first', 'last', 'p.last', 'pattern', 'p.pattern collate "C"'
  );
  v_time constant text :=
    'to_char(timestamptz ''epoch'' + p.%s * interval ''1 microsecond'', '
      || '''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')';
begin
  select s.search_stage_records, s.search_stage_templates into v_records, v_templates
  from logloom_private.settings s;
  return query execute
    'with found as materialized ('
      || logloom_private.rough_shapes_sql(
        p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_records,
        v_templates
      )
    || '), rough as (select f.shape, sum(f.count) as count, min(f.first) as first, '
      || 'max(f.last) as last, min(f.example) as example, min(f.place) as place '
      || 'from found f group by 1'
    || '), patterns as (select logloom_private.shape(r.shape) as pattern, '
      || 'sum(r.count)::double precision as count, min(r.first) as first, max(r.last) as last, '
      || 'min(r.example) as example, min(r.place) as place from rough r group by 1'
    || '), chosen as materialized (select c.*, row_number() over () as n from ('
      || 'select p.*, count(*) over () as total from patterns p '
      || logloom_private.chosen_rows_sql(
        p_query.plan, v_columns, 'p.count desc, p.pattern collate "C"', p_limit
      )
    || ') c), messages as (select m.* from logloom_private.sealed_messages('
      || logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id))
      || ', array(select c.place from chosen c where c.place is not null)'
      || ') m) '
    || 'select jsonb_build_object(''pattern'', p.pattern), p.count, jsonb_build_object('
      || '''count'', p.count, ''first'', ' || format(v_time, 'first') || ', ''last'', '
      || format(v_time, 'last') || ', ''example'', least(p.example, left(m.msg, 1000) collate "C"))'
      || ', p.total, case when exists (select from found f where f.is_cut) '
      || 'then $1 || row($2, $3, $4)::public.logloom_query_warning else $1 end '
      || 'from chosen p left join messages m on m.place = p.place order by p.n'
  using
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, p_query.warnings) w
    ),
    (p_query.plan -> 'first' -> 'position')::integer,
    format(
      'patterns reached its limit of %s records, or %s templates of blocks: these are the newest',
      v_records, v_templates
    ),
    'Narrow the filter or the range of time.';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_series_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_seconds   bigint,
  p_groups    jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_aggregate constant jsonb :=
    jsonb_build_array(logloom_private.stats_aggregates(p_query) -> 0);
  v_bucket constant text := format(
    'date_bin(%L::interval, l.ts, ''epoch'')', make_interval(secs => p_seconds)
  );
  v_keys text[] := p_query.by_sql;
  v_key text := '0';
  v_source logloom_private.counted_source;
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range),
    v_aggregate -> 0 ->> 'kind' in ('count', 'rate'), p_seconds
  );
  if cardinality(v_keys) > 0 and v_source.count_sql like '%l.events%' then
    -- Which series it is is asked of each group of a bucket, not of each minute.
    v_source.rows_sql := 'from (select ' || v_bucket || ' as ts, sum(l.events) as events, '
      || (
        select string_agg(format('%s as b%s', k.sql, k.n), ', ' order by k.n)
        from unnest(v_keys) with ordinality k (sql, n)
      )
      || ' ' || v_source.rows_sql || ' group by 1, '
      || array_to_string(array(select n + 2 from generate_subscripts(v_keys, 1) n), ', ')
      || ') l';
    v_keys := array(select 'l.b' || n from generate_subscripts(v_keys, 1) n);
  end if;
  if cardinality(v_keys) > 0 then
    v_key := '(' || quote_literal((
      select coalesce(jsonb_object_agg(g.texts::text, g.n - 1), '{}')
      from jsonb_array_elements(p_groups) with ordinality g (texts, n)
    )) || '::jsonb ->> jsonb_build_array('
      || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(v_keys) b)
      || ')::text)::integer';
  end if;
  return 'select ' || v_bucket || ', ' || v_key || ', '
    || (logloom_private.stats_values_sql(
      v_aggregate, v_source, p_seconds::numeric / 60
    ))[1]
    || ' ' || v_source.rows_sql || ' group by 1, 2';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_stats_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_aggregates constant jsonb := logloom_private.stats_aggregates(p_query);
  v_bucket constant bigint := p_query.plan -> 'bucket';
  v_groups constant integer := (select s.search_groups from logloom_private.settings s);
  v_only_counts constant boolean := not jsonb_path_exists(
    v_aggregates, '$[*] ? (@.kind != "count" && @.kind != "rate")'
  );
  v_keys text[];
  v_names text[] := p_query.by_fields;
  v_source logloom_private.counted_source;
  v_values text[];
  v_texts text[];
  v_sorted jsonb;
  v_grouped text;
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_only_counts, v_bucket
  );
  v_keys := coalesce(v_source.keys_sql, p_query.by_sql);
  if v_bucket is not null then
    v_keys := format('date_bin(%L::interval, l.ts, ''epoch'')', make_interval(secs => v_bucket))
      || v_keys;
    v_names := 'ts'::text || v_names;
  end if;
  v_values := logloom_private.stats_values_sql(
    v_aggregates, v_source,
    coalesce(v_bucket, extract(epoch from upper(p_range) - lower(p_range))) / 60
  );

  -- Columns k1, k2 … of the groups and v1, v2 … of the aggregates.
  v_grouped := 'select ' || (
    select string_agg(c.sql || ' as ' || c.name, ', ')
    from (
      select k.sql, 'k' || k.n as name from unnest(v_keys) with ordinality k (sql, n)
      union all
      select v.sql, 'v' || v.n from unnest(v_values) with ordinality v (sql, n)
    ) c
  ) || ' ' || v_source.rows_sql;
  if cardinality(v_keys) > 0 then
    v_grouped := v_grouped || ' group by '
      || (select string_agg(n::text, ', ') from generate_series(1, cardinality(v_keys)) n)
      || case when v_source.count_sql like '%events%' then ' having sum(l.events) <> 0' else '' end;
  end if;
  -- What is a text is one already.
  v_texts := array(
    select case
      when v_bucket is not null and k.n = 1
        then 'to_char(g.k1 at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS"Z"'')'
      when k.name in ('ts', 'received_at', 'id') then format('(to_jsonb(g.k%s) #>> ''{}'')', k.n)
      else 'g.k' || k.n
    end
    from unnest(v_names) with ordinality k (name, n)
    order by k.n
  );
  v_sorted := (
    select jsonb_object_agg(c.name, c.sql)
    from (
      select
        k.name,
        case when v_bucket is not null and k.n = 1 then 'g.k1'
          else v_texts[k.n] || ' collate "C"' end as sql
      from unnest(v_names) with ordinality k (name, n)
      union all
      select a.item ->> 'name', 'g.v' || a.n
      from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    ) c
  );
  v_grouped := format(
      'select g.*, count(*) over () as total from (select g.* from (select g.*, count(*) over () '
        || 'as groups from (%1$s) g) g where g.groups <= %2$s '
        || 'or logloom_private.refuse_stage_bound(''by'', %2$s, ''groups'')) g ',
      v_grouped, v_groups
    )
    || logloom_private.chosen_rows_sql(
      p_query.plan, v_sorted,
      concat_ws(
        ', ',
        case when v_bucket is not null then 'g.k1' end,
        'g.v1 desc nulls last',
        (
          select string_agg(v_texts[n] || ' collate "C"', ', ')
          from generate_series(
            case when v_bucket is null then 1 else 2 end, cardinality(v_texts)
          ) n
        )
      ),
      p_limit
    );

  -- Arrays, since a function takes 100 arguments at most and a query may name more fields.
  return 'select jsonb_object(array['
    || array_to_string(array(select quote_literal(n) from unnest(v_names) n), ', ')
    || ']::text[], array[' || array_to_string(v_texts, ', ')
    || ']::text[]), g.v1, jsonb_build_object('
    || (
      select string_agg(quote_literal(a.item ->> 'name') || ', g.v' || a.n, ', ')
      from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    )
    || '), g.total from (' || v_grouped || ') g';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.new_api_key (
  p_prefix text DEFAULT 'll_'::text
)
  RETURNS text
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles need no random bytes of their own
declare
  -- 30 base62 characters carry 178 bits. A byte of 248 and more is drawn again, so that each
  -- character is equally likely.
  v_key text := p_prefix;
  v_byte integer;
begin
  while length(v_key) < length(p_prefix) + 30 loop
    v_byte := get_byte(extensions.gen_random_bytes(1), 0);
    if v_byte < 248 then
      v_key := v_key || logloom_private.base62(v_byte, 1);
    end if;
  end loop;
  return v_key || logloom_private.base62(logloom_private.crc32(convert_to(v_key, 'UTF8')), 6);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_key_use (
  p_key logloom.api_keys
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_key.last_used_at >= date_trunc('minute', now()) then
    return;
  end if;
  -- Skips a locked row: whoever holds it must not hold up requests, and another one will do.
  update logloom.api_keys k
  set last_used_at = now()
  where k.key_id = (
    select u.key_id
    from logloom.api_keys u
    where u.key_id = p_key.key_id
    for no key update skip locked
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.numbers_aggregate_sql (
  p_aggregate jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'logloom_private.finite_double(' || case p_aggregate ->> 'kind'
    when 'sum' then 'coalesce(sum(l.total), 0)'
    when 'avg' then 'sum(l.total) / nullif(sum(l.numbers), 0)'
    when 'min' then 'min(l.minimum)'
    when 'max' then 'max(l.maximum)'
    else format('max(l.%I)', p_aggregate ->> 'kind')
  end || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.objects_of_text (
  p_text text
)
  RETURNS jsonb[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_text is null then
    return null;
  end if;
  return array(select nullif(e.value, 'null') from jsonb_array_elements(p_text::jsonb) e);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.only_number (
  p_query logloom_private.compiled_query
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_fields constant jsonb := (
    select jsonb_agg(distinct a -> 'field')
    from jsonb_array_elements(logloom_private.stats_aggregates(p_query)) a
    where a ->> 'kind' not in ('count', 'rate')
  );
begin
  if jsonb_array_length(v_fields) = 1 and v_fields -> 0 ->> 'field' = 'attrs'
    and jsonb_array_length(v_fields -> 0 -> 'path') = 1
    and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    and not p_query.plan -> 'aggregates' @> '[{"kind": "count_distinct"}]'
  then
    return v_fields -> 0 -> 'path' ->> 0;
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
    'create_ingest_token',
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
    'ingest_text',
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
    'read_logs',
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

CREATE OR REPLACE FUNCTION logloom_private.outer_nulls (
  p_nulls integer[],
  p_count integer,
  OUT     before integer,
  OUT     after integer
)
  RETURNS record
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_last constant integer := cardinality(p_nulls);
  v_most integer := v_last;
  v_try integer;
begin
  before := 0;
  while before < v_most loop
    v_try := (before + v_most + 1) / 2;
    if p_nulls[v_try] = v_try then
      before := v_try;
    else
      v_most := v_try - 1;
    end if;
  end loop;
  after := 0;
  v_most := v_last;
  while after < v_most loop
    v_try := (after + v_most + 1) / 2;
    if p_nulls[v_last + 1 - v_try] = p_count + 1 - v_try then
      after := v_try;
    else
      v_most := v_try - 1;
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.percentile_within (
  p_place   double precision,
  p_low     double precision,
  p_at_low  bigint,
  p_between double precision[],
  p_high    double precision,
  p_at_high bigint
)
  RETURNS double precision
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_between constant double precision[] := array(
    select n from unnest(p_between) n order by n
  );
  v_known constant bigint := p_at_low + coalesce(cardinality(v_between), 0);
begin
  if floor(p_place) < 0 or ceil(p_place) >= v_known + p_at_high then
    return null;
  end if;
  return (
    select percentile_cont(p_place - floor(p_place)) within group (
      order by case
        when n < p_at_low then p_low
        when n < v_known then v_between[n - p_at_low + 1]
        else p_high
      end
    )
    from generate_series(floor(p_place)::bigint, ceil(p_place)::bigint) n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.percentiles_list (
  p_percentiles jsonb,
  p_member      text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select string_agg(replace(replace(p_member, '@', p.key), '#', p.value), ', ' order by p.key)
    from jsonb_each_text(p_percentiles) p
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.percentiles_sql (
  p_rows        text,
  p_keys        text[],
  p_percentiles jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_limits constant text :=
    logloom_private.percentiles_list(p_percentiles, 'l.low_@, l.high_@');
begin
  return format(
    $query$
      with found as materialized (
        select r.*, array[%2$s]::text[] as keys from (%1$s) r
      ), groups as materialized (
        select
          f.keys, row_number() over () as id,
          sum(cardinality(array_remove(f.doubles, null)))::double precision as size
        from found f
        where f.doubles is not null
        group by f.keys
      ), numbers as not materialized (
        select g.id, g.size, f.doubles
        from found f
        join groups g using (keys)
        where f.doubles is not null
      ), bounds as materialized (
        -- One number in sixteen; the margin is four standard deviations of a median's place among
        -- these, and more of another's.
        select s.id, s.margin, %3$s
        from (
          select n.id, 8 / sqrt(greatest(n.size, 1)) as margin, unnest(n.doubles) as number
          from numbers n
        ) s
        where random() < 0.0625
        group by s.id, s.margin
      ), parts as (
        select l.id, l.size, %4$s, p.*
        from (
          select l.*, least(%7$s) as low
          from (
            select n.*, %5$s
            from numbers n
            left join bounds b using (id)
          ) l
          offset 0
        ) l
        cross join lateral (
          select %6$s
          from (select unnest(l.doubles) as number) u
          where u.number >= l.low
        ) p
      ), percentiles as (
        select l.id, %8$s
        from (select l.id, l.size, %4$s, %9$s from parts l) l
        group by l.id, l.size, %4$s
      )
      select f.*, p.*
      from found f
      left join groups g using (keys)
      left join percentiles p using (id)
    $query$,
    p_rows, array_to_string(p_keys, ', '),
    logloom_private.percentiles_list(
      p_percentiles,
      'percentile_disc(array[greatest(# - s.margin, 0), least(# + s.margin, 1)]) '
        || 'within group (order by s.number) as @'
    ),
    v_limits,
    logloom_private.percentiles_list(
      p_percentiles,
      'case when # > b.margin then b.@[1] else ''-Infinity'' end as low_@, '
        || 'case when # + b.margin < 1 then b.@[2] else ''Infinity'' end as high_@'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'count(*) filter (where u.number >= l.low_@) as above_@, '
        || 'count(*) filter (where u.number = l.low_@) as at_low_@, '
        || 'array_agg(u.number) filter (where u.number > l.low_@ and u.number < l.high_@) '
        || 'as between_@, '
        || 'count(*) filter (where u.number = l.high_@) as at_high_@'
    ),
    logloom_private.percentiles_list(p_percentiles, 'l.low_@'),
    logloom_private.percentiles_list(
      p_percentiles,
      'coalesce(logloom_private.percentile_within('
        || '# * (l.size - 1) - (l.size - sum(l.above_@)::double precision), '
        || 'l.low_@, sum(l.at_low_@)::bigint, '
        || 'array_agg(l.between_@) filter (where l.between_@ is not null), '
        || 'l.high_@, sum(l.at_high_@)::bigint), '
        || '(select percentile_cont(#) within group (order by u.number) from ('
        || 'select unnest(n.doubles) as number from numbers n where n.id = l.id) u)) as @'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'unnest(array[l.above_@]) as above_@, unnest(array[l.at_low_@]) as at_low_@, '
        || 'unnest(l.between_@) as between_@, unnest(array[l.at_high_@]) as at_high_@'
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_windows (
  p_tenant_id text,
  p_rule      logloom.alert_rules
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the compiler's SQL is not run under row-level security, which no index survives
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_settings logloom_private.settings;
  v_query logloom_private.compiled_query;
  v_source text;
  v_is_grouped boolean;
  v_values logloom_private.alert_window[];
  v_result public.logloom_alert_preview;
begin
  select s.* into v_settings from logloom_private.settings s;
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.check_query(p_rule.query_dsl, true);
  v_query := logloom_private.compile_query(p_rule.query_dsl);
  v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree, v_query.filter);
  if v_query.names_now then
    perform logloom_private.refuse('alerts.preview_names_now');
  end if;
  v_source := 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format(
      '%s, $2, $3, %L, null) s', logloom_private.scanned_tenant_sql('$1'), v_query.tree
    );
  v_is_grouped := cardinality(v_query.by_fields) > 0;
  v_result.ts_to := date_trunc('minute', least(
    now(), logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
  ));
  v_result.ts_from := v_result.ts_to - v_settings.preview_span;
  if logloom_private.has_partials(v_query) then
    v_result.step_minutes := 1;
    v_values := logloom_private.preview_partial_values(
      v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes
    );
  else
    v_result.step_minutes := p_rule.window_minutes;
    v_values := logloom_private.window_values(
      v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes,
      case when v_is_grouped then v_settings.search_groups + 1 end
    );
    if v_is_grouped and cardinality(v_values) > v_settings.search_groups then
      perform logloom_private.refuse_stage_bound(
        'by', v_settings.search_groups, 'groups of all windows'
      );
    end if;
  end if;
  return logloom_private.completed_preview(v_result, v_values, v_is_grouped, p_rule);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.purge_old_rows()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_old record;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  for v_old in
    select o.name::regclass as name, o.is_old, o.lifetime
    from (
      values
        ('logloom.audit_events', 'r.occurred_at < $1', v_settings.audit_lifetime),
        ('logloom.alert_history', 'r.triggered_at < $1', v_settings.alert_history_lifetime),
        ('logloom_private.idempotency_keys', 'r.created_at < $1',
          v_settings.idempotency_key_lifetime),
        -- Counted for a minute from when they were made.
        ('logloom_private.ingest_tokens', 'r.expires_at < $1', '1 minute'),
        -- Unused for a day, a bucket is full.
        ('logloom_private.rate_buckets', 'r.filled_at < $1', '1 day'),
        ('logloom_private.notifications', 'r.settled_at < $1 and r.status <> ''pending''',
          v_settings.notification_history_lifetime),
        ('logloom_private.notification_usage', 'r.hour < $1', '1 day'),
        ('logloom_private.confirmation_mails', 'r.sent_at < $1', v_settings.confirmation_lifetime),
        ('logloom_private.notification_addresses',
          'r.code_expires_at < $1 and r.confirmed_at is null', '0')
    ) o (name, is_old, lifetime)
  loop
    execute format(
      'delete from %1$s d where d.ctid = any(array('
        'select r.ctid from %1$s r where %2$s limit $2 for update skip locked))',
      v_old.name, v_old.is_old
    )
    using now() - v_old.lifetime, v_settings.purge_step_rows;
    get diagnostics v_rows = row_count;
    if v_rows >= v_settings.purge_step_rows then
      return v_settings.deletion_pause;
    end if;
  end loop;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_aggregate_sql (
  p_aggregate jsonb,
  p_alias     text
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
  v_number := 'logloom_private.json_number('
    || logloom_private.query_value_sql(p_aggregate -> 'field', p_alias) || ')';
  return case
    when v_kind = 'sum' then 'logloom_private.finite_double(coalesce(sum(' || v_number || '), 0))'
    when v_kind in ('avg', 'min', 'max')
      then 'logloom_private.finite_double(' || v_kind || '(' || v_number || '))'
    else 'logloom_private.finite_double(percentile_cont(' || (p_aggregate ->> 'fraction')
      || ') within group (order by logloom_private.finite_double(' || v_number || ')))'
  end;
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
    ('query.minus_negates_nothing', 400, '- must directly precede the term that it negates',
      'Write -term, or "-" for the character itself.', null),
    ('query.backslash_escapes_nothing', 400, 'A backslash has nothing to escape',
      'Write \\ for the character itself.', null),
    ('query.bound_is_missing', 400, 'A bound of a range is missing',
      'Write [a TO b] or {a TO b}; a * alone leaves a bound open.', null),
    ('query.bracket_closes_nothing', 400, 'A closing bracket has no opening bracket',
      'Remove it, or quote it to search for it.', null),
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
    ('query.regex_is_not_quoted', 400, 'A regular expression must be quoted',
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
    ('query.value_has_a_blank', 400, 'A value is missing after %s',
      'Write %2$s: no blank follows the colon.', null),
    ('query.value_is_missing', 400, 'A value is missing after %s',
      'Write field:value without white space around the colon; field:"" finds the empty text.',
      null),
    ('query.not_a_number', 400, 'An attribute is compared with a number, but this is not one: %s',
      'Write a number such as -5, 0.5 or 1e3, or a quantity such as 1.5s or 10MiB, without '
        'quotes.', null),
    ('query.nested_too_deep', 400, 'Brackets and NOTs nest deeper than 16',
      'Remove unnecessary brackets.', null),
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
      '%2$sQuote a text that holds a colon. The fields are %3$s and attrs.',
      'The hint names a field that is written alike.'),
    ('query.level_is_unknown', 400, 'Unknown level %s',
      'A level is debug, info, warn or error, or an alias of one; level:>=warn is a range.', null),
    ('query.level_is_a_list', 400, 'Unknown level %s', 'Write level:(%2$s)', null),
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
    ('query.word_is_not_for_lists', 400, '%s is not allowed in a list of values',
      'The values of field:(a OR b) are joined by OR; quote the word to search for it.', null),
    ('query.comparison_has_blanks', 400, '%s is only allowed at the start of a value',
      'Write %2$s: a colon after the field, and no blanks.', null),
    ('query.range_is_foreign', 400, '%s is only allowed in a range of a field', 'Write %2$s', null),
    ('query.field_is_of_another_language', 400, 'Unknown field %s', 'Write %2$s', null),
    ('query.operator_is_for_values', 400, '%s is only allowed at the start of a value',
      'Write field:>5, or quote the text.', null),
    ('query.bracket_is_for_ranges', 400, '%s is only allowed in a range of a field',
      'Write field:[a TO b], or quote the text.', null),
    ('query.id_takes_no_regex', 400, '%s takes no regular expression',
      'id takes a whole UUID, or * for any.', null),
    ('query.time_takes_no_regex', 400, '%s takes no regular expression',
      'Write a time or a range of times, such as ts:>now-15m.', null),
    ('query.units_differ', 400, 'The bounds of a range have different units',
      'Write two numbers, two durations or two sizes.', null),
    ('query.any_takes_a_text', 400, 'any only takes a text',
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

CREATE OR REPLACE FUNCTION logloom_private.query_field (
  p_name     text,
  p_position integer,
  p_stage    text    DEFAULT NULL::text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_path text[];
  v_joined text;
  v_rest text;
  v_near text;
begin
  if p_name = any(logloom_private.query_field_names()) then
    return jsonb_build_object(
      'field', p_name, 'name', p_name,
      'reads', case p_name when 'any' then logloom_private.query_text_columns() || 'attrs'::text
        else array[p_name] end
    );
  elsif left(p_name, 1) = '@' and p_name <> '@timestamp' then
    v_rest := '.' || substr(p_name, 2);
  elsif left(p_name, 6) = 'attrs.' then
    v_rest := substr(p_name, 6);
  elsif p_name = 'attrs' then
    perform logloom_private.refuse_at(p_position, 'query.attribute_is_missing');
  else
    v_near := logloom_private.query_near_field(p_name);
    if p_stage ~ '^(?:sum|avg|min|max|p[0-9].*)$' and v_near <> 'ts' then
      -- These take attributes.
      v_near := null;
    end if;
    perform logloom_private.refuse_at(
      p_position,
      case when p_stage is null then 'query.field_is_unknown' else 'stages.field_is_unknown' end,
      logloom_private.query_excerpt(p_name),
      coalesce('Did you mean ' || v_near || '? ', '')
        || case when p_name collate "und-x-icu" !~ '^[[:alpha:]_][[:alpha:][:digit:]_.-]*$' then ''
          when p_stage is null
            then format('An attribute is written @%s: (short for attrs.%1$s:). ', left(p_name, 60))
          else format('An attribute is written @%s. ', left(p_name, 60)) end,
      array_to_string(logloom_private.query_field_names(), ', ')
    );
  end if;

  -- ICU's classes, because "letters and digits of any script" is what they say.
  if v_rest collate "und-x-icu" !~
    '^(?:\.(?:[[:alpha:][:digit:]_-]+|"(?:[^"\\]|\\.)*"))+$'
  then
    perform logloom_private.refuse_at(p_position, 'query.path_is_malformed');
  end if;

  if strpos(v_rest, '"') = 0 then
    v_path := string_to_array(substr(v_rest, 2), '.');
    v_joined := case when cardinality(v_path) > 1 then substr(v_rest, 2) end;
  else
    select array_agg(logloom_private.query_text(substr(m.match[1], 2)) order by m.n)
    into v_path
    from regexp_matches(v_rest, '\.(?:"(?:[^"\\]|\\.)*"|[^."]+)', 'g')
      with ordinality as m (match, n);
  end if;
  return jsonb_build_object(
    'field', 'attrs', 'name', p_name, 'path', v_path, 'joined', v_joined,
    'reads', array_remove(array['attrs.' || v_path[1], 'attrs.' || v_joined], null)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_aggregate (
  p_name text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case
    when p_name in ('count', 'rate', 'sum', 'avg', 'min', 'max', 'count_distinct') then p_name
    when p_name ~ '^p(?:100|[0-9]{1,2}(?:\.[0-9]{1,4})?)$' then p_name
    when p_name ~ '^(?:perc|pct|pc)[1-9][0-9]?$' then 'p' || substring(p_name from '[0-9]+')
    when p_name = 'median' then 'p50'
    when p_name in ('percentile', 'percentiles', 'quantile', 'pct') then 'p95'
    when p_name in ('mean', 'average') then 'avg'
    when p_name in ('dc', 'dcount', 'distinct_count', 'count_uniq', 'uniq', 'cardinality')
      then 'count_distinct'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_argument (
  p_texts text[],
  p_kind  text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := (
    select t from unnest(p_texts) with ordinality u (t, place)
    where t ~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$' and t <> 'by' and place <= 5
    order by place limit 1
  );
begin
  return case
    when v_name is null and p_kind = 'count_distinct' then 'user_id'
    when v_name is null then '@duration_ms'
    when p_kind = 'count_distinct' or left(v_name, 1) = '@' or left(v_name, 6) = 'attrs.'
      then logloom_private.query_meant_name(v_name)
    when p_kind in ('min', 'max') and logloom_private.query_near_field(v_name) = 'ts' then 'ts'
    else '@' || v_name
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_comparison (
  p_token text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_parts constant text[] := regexp_match(
    p_token,
    '^(@?[[:alpha:]_](?:[[:alnum:]_.@-]*[[:alnum:]_])?)(===?|!=|<>|=~|!~|>=|<=|=|>|<)([^=].*)$'
  );
  v_name text;
  v_is_not constant boolean := v_parts[2] in ('!=', '<>', '!~');
  v_value constant text := regexp_replace(v_parts[3], '^''(.*)''$', '\1');
begin
  if v_parts is null then
    return null;
  end if;
  v_name := case when v_parts[1] in ('earliest', 'latest') then 'ts'
    else logloom_private.query_meant_name(v_parts[1]) end;
  if v_parts[1] in ('earliest', 'latest') and v_parts[2] = '=' then
    return case v_parts[1] when 'earliest' then 'ts:>=' else 'ts:<' end || v_value;
  elsif v_parts[3] ~* '^null$' then
    return case when v_is_not then '' else '-' end || v_name || ':*';
  end if;
  return case when v_is_not then '-' else '' end || v_name || ':'
    || case
      when v_parts[2] in ('=~', '!~') then '~"' || replace(v_value, '"', '\"') || '"'
      when v_parts[2] in ('>', '>=', '<', '<=') then v_parts[2] || v_value
      when v_value ~ '^[[:alnum:]_./*?-]+$' then v_value
      else '"' || regexp_replace(v_value, '(["\\])', '\\\1', 'g') || '"'
    end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_index (
  p_texts text[],
  p_at    integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := '@' || btrim(logloom_private.query_text(p_texts[p_at + 1]), '''');
  v_value constant text := p_texts[p_at + 3];
begin
  if p_texts[p_at - 1] !~ '^@?attrs$' or p_texts[p_at + 2] is distinct from ']'
    or v_name !~ '^@[[:alpha:]_][[:alnum:]_.@-]*$'
  then
    return null;
  elsif left(v_value, 1) = ':' then
    return v_name || v_value || case v_value when ':' then left(p_texts[p_at + 4], 60) else '' end;
  end if;
  return coalesce(
    logloom_private.query_meant_words(v_name || p_texts[p_at + 3:], 1),
    logloom_private.query_meant_comparison(v_name || v_value),
    v_name || ':*'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_name (
  p_name text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Ingest makes fields of these.
  v_name constant text := case when p_name in ('@timestamp', '@message', '@level')
    then substr(p_name, 2) else p_name end;
begin
  if left(v_name, 1) = '@' or left(v_name, 6) = 'attrs.'
    or v_name = any(logloom_private.query_field_names())
  then
    return v_name;
  end if;
  return coalesce(logloom_private.query_near_field(v_name), '@' || v_name);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_selector (
  p_texts text[],
  p_at    integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_meant constant text := logloom_private.query_meant_comparison(
    p_texts[p_at + 1] || logloom_private.query_text(p_texts[p_at + 2])
  );
begin
  return v_meant || case
    when p_texts[p_at - 1] is distinct from '(' then ''
    when p_texts[p_at - 2] = 'rate' then ' | rate()'
    when p_texts[p_at - 2] = 'count_over_time' then ' | count()'
    else '' end
    || case when p_texts[p_at - 1] = '(' and p_texts[2:3] = array['by', '(']
      then ' by ' || logloom_private.query_meant_name(p_texts[4]) else '' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_stage (
  p_texts text[],
  p_plan  jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_word constant text := lower(p_texts[1] collate "C");
  v_column constant text := coalesce(
    p_plan -> 'aggregates' -> 0 ->> 'name', case when p_plan ? 'patterns' then 'count' end
  );
  v_number constant text := coalesce(
    (select t from unnest(p_texts) t where t ~ '^(?:limit=)?[1-9][0-9]{0,5}$' limit 1), '10'
  );
  v_by constant integer := coalesce(array_position(p_texts, 'by'), array_position(p_texts, 'BY'));
  -- The width of timechart span=5m, of bin(5m).
  v_width text := (
    select substring(t from '[1-9].*')
    from unnest(p_texts) t
    where t ~ '^(?:_time:)?[1-9][0-9]{0,4}[smhdw]$'
    limit 1
  );
  v_keys text[];
  v_kind text;
  v_place integer;
begin
  if p_texts[2] in ('>', '>=', '<', '<=', '=', '!=') and v_word ~ '^[[:alpha:]_@]' then
    return '| where ' || case when v_column is not null then array_to_string(p_texts[1:3], ' ')
      else logloom_private.query_meant_words(p_texts, 1) end;
  elsif v_word in ('>', '>=', '<', '<=', '=', '!=') and v_column is not null then
    return '| where ' || v_column || ' ' || v_word || ' ' || p_texts[2];
  elsif v_word in ('=', '!=') or v_word = '~' then
    -- |= "text", |~ "regex"
    return case v_word when '~' then 'msg:~' when '!=' then '-' else '' end || p_texts[2]
      || ' before the first |';
  elsif v_word in ('head', 'take', 'first', 'last', 'limit') then
    return '| limit ' || v_number;
  elsif v_word = 'tail' then
    return '| sort by ts | limit ' || v_number;
  elsif v_word in ('order', 'sort') then
    return '| sort by ' || coalesce(
      nullif(array_to_string(p_texts[coalesce(v_by, 1) + 1:], ' '), ''), 'ts desc'
    );
  elsif v_word in ('filter', 'search', 'having', 'where') then
    return '| where ' || case
      when v_column is not null and p_texts[3] ~ '^[<>=!]' then array_to_string(p_texts[2:4], ' ')
      when v_column is not null then v_column || ' > 10'
      else coalesce(logloom_private.query_meant_words(p_texts, 2), 'service:api') end;
  elsif v_word in ('project', 'table', 'keep', 'select', 'display') then
    v_keys := array(
      select logloom_private.query_meant_name(t)
      from unnest(p_texts[2:]) t
      where t ~ '^@?[[:alpha:]_]'
      limit 3
    );
    return '| fields ' || coalesce(nullif(array_to_string(v_keys, ', '), ''), 'ts, msg');
  elsif v_word in ('parse', 'rex', 'extract', 'unpack_json', 'spath') then
    return '| json msg, or | logfmt msg: other texts are not taken apart';
  elsif v_word = 'unpack_logfmt' then
    return '| logfmt msg';
  elsif v_word in ('eval', 'extend', 'let', 'compute', 'math', 'fillnull') then
    return 'the value as an attribute where the event is sent: a query makes no fields';
  elsif v_word in ('rename', 'project-rename', 'label_format') then
    return 'the name that it has: only an aggregate gets another, | count() as n';
  end if;

  v_keys := array(
    select logloom_private.query_meant_name(t)
    from unnest(
      p_texts[coalesce(v_by, 1) + 1:coalesce(
        case when p_texts[v_by + 1] = '(' then array_position(p_texts, ')', v_by) end,
        cardinality(p_texts)
      )]
    ) with ordinality u (t, place)
    where t ~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$'
      and lower(t collate "C") not in ('by', 'bin', 'span', 'limit', 'as', '_time', 'count', 'time')
      and p_texts[coalesce(v_by, 1) + place::integer + 1] is distinct from '('
    order by place
    limit 2
  );
  if v_word = 'top' then
    return format(
      '| count() as n by %s | sort by n desc | limit %s', coalesce(v_keys[1], 'service'), v_number
    );
  elsif v_word in ('dedup', 'uniq', 'distinct') and p_texts[2] is distinct from '(' then
    return format('| count() by %s: a row for each value', coalesce(v_keys[1], 'service'));
  elsif v_word in ('bin', 'bucket', 'timeslice') then
    return format('| count() by (%s)', coalesce(v_width, '5m'));
  end if;

  v_place := case
    when v_word in ('stats', 'summarize', 'aggregate', 'timechart', 'chart') then (
      select min(place) from unnest(p_texts) with ordinality u (t, place)
      where place > 1
        and logloom_private.query_meant_aggregate(lower(t collate "C")) is not null
    )
    else 1 end;
  v_kind := coalesce(
    logloom_private.query_meant_aggregate(lower(p_texts[v_place] collate "C")),
    case when v_word in ('stats', 'summarize', 'aggregate', 'timechart', 'chart') then 'count' end
  );
  if v_kind is null then
    return null;
  elsif lower(p_texts[v_place] collate "C") in ('percentile', 'percentiles', 'quantile', 'pct') then
    -- quantile(0.99, x) and percentile(x, 99)
    v_kind := 'p' || coalesce(
      (
        select trim_scale(case when t::numeric <= 1 then 100 else 1 end * t::numeric)
        from unnest(p_texts) t
        where t ~ '^(?:[1-9][0-9]|0?[.][0-9]{1,3})$'
        limit 1
      ),
      95
    );
  end if;
  if v_by is null then
    v_keys := '{}';
  end if;
  v_width := coalesce('(' || v_width || ')', case v_word when 'timechart' then '(5m)' end);
  v_keys := array_remove(v_width || v_keys, null);
  return '| ' || v_kind || '(' || case
      when v_kind in ('count', 'rate') then ''
      else logloom_private.query_meant_argument(p_texts[v_place + 1:], v_kind) end || ')'
    || coalesce(' by ' || nullif(array_to_string(v_keys, ', '), ''), '');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_term (
  p_name  text,
  p_value text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case
    when p_name in ('_exists_', '_missing_') and p_value ~ '^@?[[:alpha:]_]'
      then case p_name when '_missing_' then '-' else '' end
        || logloom_private.query_meant_name(p_value) || ':*'
    when p_name ~ '^!.' and p_value <> ''
      then '-' || logloom_private.query_meant_name(substr(p_name, 2)) || ':' || left(p_value, 60)
    when p_name = 'status' and p_value ~* '^(?:debug|info|warn|warning|error|critical)$'
      then 'level:' || p_value
    when p_name = '*' and p_value <> '' then 'any:' || left(p_value, 60)
    when p_name = '_time' and p_value ~ '^[1-9][0-9]{0,9}[smhdw]$' then 'ts:-' || p_value
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_values (
  p_source   text,
  p_position integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_term constant text[] := regexp_match(
    left(p_source, p_position - 1),
    '(?:^|[ (])(-?@?[[:alpha:]_][[:alnum:]_.@-]*):([[:alnum:]_.*-]+)$'
  );
  v_words constant text[] := string_to_array(
    substring(substr(p_source, p_position + 1) from '^[[:alnum:]_.*|-]+'), '|'
  );
  v_values text;
begin
  select string_agg(w.word, ' OR ' order by w.place) into v_values
  from unnest(v_words) with ordinality w (word, place)
  where w.place < coalesce(
    (
      select min(s.place)
      from unnest(v_words) with ordinality s (word, place)
      where s.word in ('', 'json', 'logfmt', 'fields', 'patterns')
        or logloom_private.query_meant_stage(array[s.word], '{}') is not null
    ),
    cardinality(v_words) + 1
  );
  return v_term[1] || ':(' || v_term[2] || ' OR ' || v_values || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_words (
  p_texts text[],
  p_at    integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := p_texts[p_at];
  v_word constant text := lower(p_texts[p_at + 1] collate "C");
  v_value text := p_texts[p_at + 2];
  v_end integer;
begin
  if p_at < 1 or v_word is null or v_name !~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$'
    or lower(v_name collate "C") in ('and', 'or', 'not', 'where')
    or v_word !~ '^(?:={1,3}|!=|<>|=~|!~|~|>=?|<=?|is|in|between|like|contains)$'
  then
    return null;
  elsif v_word = 'is' then
    return case
      when lower(v_value collate "C") = 'null'
        then '-' || logloom_private.query_meant_name(v_name) || ':*'
      when lower(v_value collate "C") = 'not'
        and lower(p_texts[p_at + 3] collate "C") = 'null'
        then logloom_private.query_meant_name(v_name) || ':*'
    end;
  elsif v_word = 'in' then
    v_end := least(
      array_position(p_texts, ')', p_at + 3), array_position(p_texts, ']', p_at + 3)
    );
    if v_value not in ('(', '[') or v_end is null then
      return null;
    end if;
    v_value := array_to_string(p_texts[p_at + 3:v_end - 1], ' ');
    return logloom_private.query_meant_name(v_name) || ':('
      || regexp_replace(translate(btrim(v_value), '''', ''), '\s*,\s*', ' OR ', 'g') || ')';
  elsif v_word in ('between', 'like', 'contains')
    and v_value !~ (case v_word when 'between' then '^-?[0-9]' else '^[''"%/]' end)
    and left(v_name, 1) <> '@' and left(logloom_private.query_meant_name(v_name), 1) = '@'
  then
    -- Two words of a message.
    return null;
  elsif v_word = 'between' then
    return logloom_private.query_meant_name(v_name) || ':['
      || v_value || ' TO ' || coalesce(nullif(p_texts[p_at + 4], ''), '*') || ']';
  elsif not logloom_private.query_is_term(v_value) then
    return null;
  elsif left(v_value, 1) = '''' then
    -- What stands in single quotes is one text, blanks and all.
    select min(n) into v_end
    from generate_series(p_at + 2, least(p_at + 12, cardinality(p_texts))) n
    where p_texts[n] ~ '''$' and (n > p_at + 2 or char_length(p_texts[n]) > 1);
    v_value := array_to_string(p_texts[p_at + 2:coalesce(v_end, p_at + 2)], ' ');
    v_value := btrim(v_value, '''');
  elsif v_value = 'now' and p_texts[p_at + 3] = '(' then
    -- now() - interval '1 hour'
    v_value := 'now-1h';
  else
    v_value := logloom_private.query_text(v_value);
  end if;
  if v_word not in ('like', 'contains') then
    return logloom_private.query_meant_comparison(
      v_name || case v_word when '~' then '=~' else v_word end || v_value
    );
  elsif v_value ~ '^/.+/$' then
    return logloom_private.query_meant_comparison(v_name || '=~' || btrim(v_value, '/'));
  end if;
  v_value := case when v_word = 'contains' then '*' || v_value || '*'
    else translate(v_value, '%', '*') end;
  return logloom_private.query_meant_comparison(
    v_name || '=' || case logloom_private.query_meant_name(v_name)
      when 'msg' then btrim(v_value, '*') else v_value end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_near_field (
  p_name text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := lower(p_name collate "C");
begin
  if char_length(v_name) not between 3 and 16 and v_name <> '*' then
    return null;
  end if;
  return coalesce(
    case when v_name in ('_all', '*') then 'any' end,
    (select f.name from unnest(logloom_private.record_fields()) f where v_name = any(f.near)),
    (
      select f.name
      from unnest(logloom_private.query_field_names() || 'attrs'::text)
        with ordinality f (name, place)
      cross join lateral logloom_private.query_distance(v_name, f.name) d
      where d <= case when char_length(f.name) < 5 then 1 else 2 end and d < char_length(v_name)
      order by d, f.place
      limit 1
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_aggregate (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first constant integer := p_state."at";
  v_kind constant text := p_state.texts[v_first];
  v_fraction numeric;
  v_name text := v_kind;
  v_field jsonb;
  v_meant text;
begin
  if v_kind ~ '^p(?:100|[0-9]{1,2}(?:\.[0-9]{1,4})?)$' then
    v_fraction := substr(v_kind, 2)::numeric / 100;
  elsif v_kind not in ('count', 'rate', 'count_distinct', 'sum', 'avg', 'min', 'max') then
    v_meant := logloom_private.query_meant_stage(
      p_state.texts[v_first:cardinality(p_state.texts) - 1], p_plan
    );
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[v_first],
        case when p_state.texts[v_first + 1] = '('
          then 'stages.aggregate_is_of_another_language'
          else 'stages.stage_is_of_another_language' end,
        logloom_private.query_excerpt(v_kind),
        v_meant
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[v_first],
      case when v_kind = '' then 'stages.aggregate_is_missing'
        when p_state.texts[v_first + 1] = '(' then 'stages.aggregate_is_unknown'
        else 'stages.stage_is_unknown' end,
      logloom_private.query_excerpt(v_kind)
    );
  end if;
  if p_state.texts[v_first + 1] <> '(' then
    perform logloom_private.refuse_at(
      p_state.positions[v_first + 1],
      'stages.bracket_is_missing',
      v_kind,
      logloom_private.query_meant_stage(
        p_state.texts[v_first:cardinality(p_state.texts) - 1], p_plan
      )
    );
  end if;
  p_state."at" := v_first + 2;
  if v_kind not in ('count', 'rate') then
    p_state := logloom_private.query_stage_field(p_state, 'stages.aggregate_needs_a_field', v_kind);
    v_field := p_state.node;
    if v_kind <> 'count_distinct' and v_field ->> 'field' <> 'attrs'
      and not (v_kind in ('min', 'max') and v_field ->> 'field' in ('ts', 'received_at'))
    then
      perform logloom_private.refuse_at(
        p_state.positions[v_first + 2], 'stages.takes_an_attribute', v_kind
      );
    end if;
  end if;
  if p_state.texts[p_state."at"] <> ')' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      case when v_field is null then 'stages.takes_no_field'
        else 'stages.aggregate_is_not_closed' end,
      v_kind
    );
  end if;
  p_state."at" := p_state."at" + 1;
  if p_state.texts[p_state."at"] = 'as' then
    v_name := p_state.texts[p_state."at" + 1];
    if v_name !~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1], 'stages.name_is_missing'
      );
    end if;
    p_state."at" := p_state."at" + 2;
  end if;
  p_state.node := jsonb_build_object(
    'kind', v_kind, 'fraction', v_fraction, 'field', v_field, 'name', v_name
  );
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_aggregates (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_aggregates jsonb := '[]';
  v_first integer;
begin
  loop
    v_first := p_state."at";
    p_state := logloom_private.query_parse_aggregate(p_state, p_plan);
    if v_first = 1 then
      perform logloom_private.query_check_order(p_plan, 'an aggregate', p_state.positions[1]);
    elsif v_aggregates @> jsonb_build_array(
      jsonb_build_object('name', p_state.node ->> 'name')
    ) then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'stages.two_columns_of_one_name', p_state.node ->> 'name'
      );
    elsif jsonb_array_length(v_aggregates) >= 8 then
      perform logloom_private.refuse_at(p_state.positions[v_first], 'stages.too_many_aggregates');
    end if;
    v_aggregates := v_aggregates || p_state.node;
    exit when p_state.texts[p_state."at"] <> ',';
    p_state."at" := p_state."at" + 1;
  end loop;
  p_plan := p_plan || jsonb_build_object('aggregates', v_aggregates, 'by', '[]'::jsonb);
  p_state.node := p_plan;
  if p_state.texts[p_state."at"] = 'by' then
    return logloom_private.query_parse_by(p_state, p_plan);
  end if;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_item (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
  v_meant text;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if v_token = 'NOT' then
    p_state := logloom_private.query_advance(p_state);
  elsif v_token = '-' then
    p_state."at" := p_state."at" + 1;
    if not logloom_private.query_is_adjacent(p_state, p_state."at")
      or left(p_state.texts[p_state."at"], 1) not in ('(', '"')
    then
      perform logloom_private.refuse_at(v_position, 'query.minus_negates_nothing');
    end if;
  elsif left(v_token, 1) = '-' then
    p_state.texts[p_state."at"] := substr(v_token, 2);
    p_state.positions[p_state."at"] := v_position + 1;
  elsif v_token = '(' then
    if p_state.texts[p_state."at" + 1] = ')'
      and logloom_private.query_is_adjacent(p_state, p_state."at")
      and logloom_private.query_meant_aggregate(p_state.texts[p_state."at" - 1]) is not null
    then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1], 'stages.aggregate_needs_a_bar', ')',
        logloom_private.query_meant_stage(p_state.texts[p_state."at" - 1:], '{}')
      );
    end if;
    p_state := logloom_private.query_deepen(p_state, v_position);
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.query_parse_items(p_state, 'or');
    if p_state.texts[p_state."at"] <> ')' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"], 'query.bracket_is_not_closed', v_position::text
      );
    end if;
    p_state."at" := p_state."at" + 1;
    p_state.depth := v_depth;
    return p_state;
  elsif v_token in ('', ')', '|', 'AND', 'OR') then
    perform logloom_private.refuse_at(
      v_position,
      case v_token when '' then 'query.term_is_missing_at_the_end' else 'query.term_is_missing' end,
      v_token
    );
  elsif v_token in ('[', ']', '{', '}') then
    v_meant := case v_token
      when '{' then logloom_private.query_meant_selector(p_state.texts, p_state."at")
      when '[' then coalesce(
        logloom_private.query_meant_words(p_state.texts, p_state."at" - 2),
        logloom_private.query_meant_index(p_state.texts, p_state."at")
      ) end;
    if v_meant is not null then
      perform logloom_private.refuse_at(
        v_position, 'query.range_is_foreign', v_token, v_meant
      );
    end if;
    perform logloom_private.refuse_at(v_position, 'query.bracket_is_for_ranges', v_token);
  elsif v_token = '""' then
    perform logloom_private.refuse_at(v_position, 'query.quoted_text_is_empty');
  else
    return logloom_private.query_parse_term(p_state);
  end if;

  p_state := logloom_private.query_parse_item(logloom_private.query_deepen(p_state, v_position));
  p_state.node := jsonb_build_object('type', 'not', 'item', p_state.node);
  p_state.depth := v_depth;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_sort (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_columns constant text[] := case
    when p_plan ? 'patterns' then array['count', 'first', 'last', 'pattern']
    when not v_rows then array['ts']
    else array(select a ->> 'name' from jsonb_array_elements(p_plan -> 'aggregates') a)
      || case when p_plan ? 'bucket' then array['ts'] else '{}'::text[] end
      || array(select b ->> 'name' from jsonb_array_elements(p_plan -> 'by') b)
  end;
  v_keys jsonb := '[]';
  v_name text;
begin
  if p_state.texts[2] <> 'by' then
    perform logloom_private.refuse_at(
      p_state.positions[2],
      'stages.sort_needs_by',
      case when p_state.texts[2] !~ '^-?@?[[:alpha:]_]' then v_columns[1]
        when not v_rows then 'ts'
        else ltrim(p_state.texts[2], '-') end
        || case when left(p_state.texts[2], 1) = '-' or p_state.texts[3] ~* '^desc$'
          then ' desc' else '' end
    );
  end if;
  p_state."at" := 2;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    p_state."at" := p_state."at" + 1;
    v_name := p_state.texts[p_state."at"];
    if not v_name = any(v_columns) or (not v_rows and jsonb_array_length(v_keys) > 0) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        case when v_name = '' and v_rows then 'stages.sort_column_is_missing'
          when v_name = '' then 'stages.sort_ts_is_missing'
          when v_rows then 'stages.sort_column_is_unknown'
          else 'stages.records_are_sorted_by_ts' end,
        logloom_private.query_excerpt(v_name),
        array_to_string(v_columns, ', ')
      );
    end if;
    p_state."at" := p_state."at" + 1;
    v_keys := v_keys || jsonb_build_object(
      'name', v_name, 'descending', p_state.texts[p_state."at"] = 'desc'
    );
    if p_state.texts[p_state."at"] in ('asc', 'desc') then
      p_state."at" := p_state."at" + 1;
    end if;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan || jsonb_build_object('sort', v_keys);
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_stage (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_stage constant text := p_state.texts[1];
  v_is_aggregate constant boolean :=
    v_stage not in ('json', 'logfmt', 'sort', 'limit', 'fields', 'where', 'patterns');
  v_fields jsonb := '[]';
  v_meant text;
begin
  if not v_is_aggregate then
    perform logloom_private.query_check_order(p_plan, v_stage, p_state.positions[1]);
  end if;
  p_state."at" := 2;
  case v_stage
    when 'json', 'logfmt' then
      p_state := logloom_private.query_stage_field(p_state, 'stages.needs_a_field', v_stage);
      if p_state.node ->> 'field' in ('ts', 'received_at', 'id', 'level') then
        perform logloom_private.refuse_at(p_state.positions[2], 'stages.takes_a_text', v_stage);
      end if;
      p_state.node := p_plan || jsonb_build_object('rows', coalesce(p_plan -> 'rows', '[]')
        || jsonb_build_object('stage', v_stage, 'field', p_state.node));
    when 'sort' then
      p_state := logloom_private.query_parse_sort(p_state, p_plan);
    when 'limit' then
      if p_state.texts[2] !~ '^[1-9][0-9]{0,5}$' then
        perform logloom_private.refuse_at(p_state.positions[2], 'stages.limit_is_out_of_range');
      end if;
      p_state."at" := 3;
      p_state.node := p_plan || jsonb_build_object('limit', p_state.texts[2]::integer);
    when 'fields' then
      loop
        p_state := logloom_private.query_stage_field(
          p_state, 'stages.fields_needs_a_field', 'fields'
        );
        v_fields := v_fields || p_state.node;
        exit when p_state.texts[p_state."at"] <> ',';
        p_state."at" := p_state."at" + 1;
      end loop;
      p_state.node := p_plan || jsonb_build_object('fields', v_fields);
    when 'where' then
      p_state := logloom_private.query_parse_having(p_state, p_plan);
    when 'patterns' then
      p_state.node := p_plan || '{"patterns": true}';
    else
      p_state."at" := 1;
      p_state := logloom_private.query_parse_aggregates(p_state, p_plan);
  end case;
  if p_state.texts[p_state."at"] <> '' then
    v_meant := logloom_private.query_meant_stage(
      p_state.texts[p_state."at":cardinality(p_state.texts) - 1], p_state.node
    );
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        'stages.bar_is_missing',
        case when v_is_aggregate then 'the aggregate' else v_stage end,
        logloom_private.query_excerpt(p_state.texts[p_state."at"]),
        v_meant
      );
    end if;
    if v_stage = 'fields' or jsonb_array_length(p_state.node -> 'by') > 0 then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        'stages.comma_is_missing',
        case when v_is_aggregate then 'the aggregate' else v_stage end,
        logloom_private.query_excerpt(p_state.texts[p_state."at"])
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'stages.something_follows',
      case when v_is_aggregate then 'the aggregate' else v_stage end,
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  p_state.node := p_state.node || jsonb_build_object(
    'last', case when v_is_aggregate then 'an aggregate' else v_stage end
  );
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_stages (
  p_state  logloom_private.query_state,
  p_source text
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_plan jsonb := '{}';
  v_bar integer;
  v_next integer;
  v_meant text;
  v_read logloom_private.query_state;
begin
  while p_state.texts[p_state."at"] = '|' loop
    v_bar := p_state."at";
    if p_state.texts[v_bar + 1] = '|' and logloom_private.query_is_adjacent(p_state, v_bar + 1) then
      perform logloom_private.refuse_at(p_state.positions[v_bar + 1], 'stages.or_is_a_word');
    end if;
    if logloom_private.query_is_adjacent(p_state, v_bar)
      and logloom_private.query_is_adjacent(p_state, v_bar + 1)
    then
      v_meant := logloom_private.query_meant_values(p_source, p_state.positions[v_bar]);
      if v_meant is not null then
        perform logloom_private.refuse_at(
          p_state.positions[v_bar + 1], 'stages.or_joins_values', v_meant
        );
      end if;
    end if;
    if p_state.texts[v_bar + 1] = 'where' and not v_plan ?| array['aggregates', 'patterns'] then
      perform logloom_private.query_check_order(v_plan, 'where', p_state.positions[v_bar + 1]);
      p_state."at" := v_bar + 1;
      p_state := logloom_private.query_parse_filter(logloom_private.query_advance(p_state));
      v_plan := v_plan || jsonb_build_object(
        'last', 'where',
        'rows', coalesce(v_plan -> 'rows', '[]')
          || jsonb_build_object('stage', 'where', 'tree', p_state.node)
      );
    else
      v_next := v_bar + 1;
      while p_state.texts[v_next] not in ('|', '') loop
        v_next := v_next + 1;
      end loop;
      v_read := logloom_private.query_parse_stage(
        logloom_private.query_split(
          p_state,
          substr(
            p_source, p_state.positions[v_bar] + 1,
            p_state.positions[v_next] - p_state.positions[v_bar] - 1
          ),
          p_state.positions[v_bar] + 1,
          '(?:[^ \t\r\n\u00a0(),|"<>=!]|"(?:[^"\\]|\\.)*")+|[<>!]='
        ),
        v_plan
      );
      v_plan := v_read.node;
      p_state."at" := v_next;
      p_state.steps := v_read.steps;
    end if;
    v_plan := jsonb_build_object('first', jsonb_build_object(
      'stage', p_state.texts[v_bar + 1], 'position', p_state.positions[v_bar + 1]
    )) || v_plan || jsonb_build_object('count', coalesce((v_plan -> 'count')::integer, 0) + 1);
  end loop;
  p_state.node := v_plan;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_term (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first constant integer := p_state."at";
  v_at integer := v_first;
  v_name text := '';
  v_head text;
  v_operator text;
  v_field jsonb;
  v_colon integer;
  v_meant text;
begin
  if left(p_state.texts[v_first], 1) = '"' then
    return logloom_private.query_parse_free(p_state);
  end if;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    v_head := p_state.texts[v_at];
    if strpos(v_head, ':') > 0 and left(v_head, 1) <> '"' then
      v_head := coalesce(substring(v_head from '^(?:[^:\\]|\\.)+'), '');
    end if;
    v_name := v_name || v_head;
    exit when v_head <> p_state.texts[v_at];
    if v_at = v_first and (v_head !~ '^(?:@|(?:attrs|@.*)\.|attrs\..*\.)$'
      or left(p_state.texts[v_at + 1], 1) <> '"'
      or not logloom_private.query_is_adjacent(p_state, v_at + 1))
    then
      v_at := null;
      exit;
    end if;
    v_at := v_at + 1;
    if not logloom_private.query_is_adjacent(p_state, v_at)
      or not logloom_private.query_is_term(p_state.texts[v_at])
    then
      perform logloom_private.refuse_at(p_state.positions[v_at], 'query.colon_is_missing');
    end if;
  end loop;

  v_operator := left(v_name, 1);
  if v_name = '' then
    perform logloom_private.refuse_at(p_state.positions[v_first], 'query.field_is_missing');
  elsif v_operator in ('<', '>', '~') then
    v_meant := logloom_private.query_meant_words(p_state.texts, v_first - 1);
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'query.comparison_has_blanks', v_operator, v_meant
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[v_first], 'query.operator_is_for_values', v_operator
    );
  elsif v_at is null then
    -- No colon: a free term.
    return logloom_private.query_parse_free(p_state);
  end if;
  v_meant := logloom_private.query_meant_term(
    v_name,
    coalesce(
      nullif(substr(p_state.texts[v_at], char_length(v_head) + 2), ''), p_state.texts[v_at + 1]
    )
  );
  if v_meant is not null then
    perform logloom_private.refuse_at(
      p_state.positions[v_first], 'query.field_is_of_another_language',
      logloom_private.query_excerpt(v_name), v_meant
    );
  end if;
  v_field := logloom_private.query_field(v_name, p_state.positions[v_first]);

  v_colon := p_state.positions[v_at] + char_length(v_head);
  p_state."at" := v_at;
  p_state := logloom_private.query_take(p_state, v_head || ':');
  if p_state.texts[p_state."at"] in ('', ')', ']', '}', '|')
    or p_state.positions[p_state."at"] <> v_colon + 1
  then
    if logloom_private.query_is_term(p_state.texts[p_state."at"]) then
      perform logloom_private.refuse_at(
        v_colon + 1, 'query.value_has_a_blank', logloom_private.query_excerpt(v_name || ':'),
        v_name || ':' || left(p_state.texts[p_state."at"], 60)
      );
    end if;
    perform logloom_private.refuse_at(
      v_colon + 1, 'query.value_is_missing', logloom_private.query_excerpt(v_name || ':')
    );
  end if;
  return logloom_private.query_parse_value(p_state, v_field);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_require_level (
  p_token    text,
  p_position integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_word constant text := lower(v_text collate "C");
  v_level constant text := case
    when v_word in ('debug', 'info', 'warn', 'error') then v_word
    when v_word = 'trace' then 'debug'
    when v_word in ('notice', 'information') then 'info'
    when v_word = 'warning' then 'warn'
    when v_word in ('err', 'critical', 'crit', 'fatal', 'panic', 'alert', 'emerg', 'emergency')
      then 'error'
    when v_word ~ '^[1-6][0-9](?:\.[0-9]+)?$'
      then (array['debug', 'debug', 'info', 'warn', 'error', 'error'])[left(v_word, 1)::integer]
  end;
begin
  if v_level is null and v_word ~ '^[a-z]+(?:,[a-z]+)+$' then
    perform logloom_private.refuse_at(
      p_position,
      'query.level_is_a_list',
      logloom_private.query_excerpt(v_text),
      replace(v_word, ',', ' OR ')
    );
  elsif v_level is null or logloom_private.query_has_wildcard(p_token) then
    perform logloom_private.refuse_at(
      p_position, 'query.level_is_unknown', logloom_private.query_excerpt(v_text)
    );
  end if;
  return v_level;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_stage_field (
  p_state logloom_private.query_state,
  p_error text,
  p_stage text
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_token constant text := p_state.texts[p_state."at"];
begin
  if v_token in ('', '(', ')', ',', '|', '<', '>', '=', '!', '<=', '>=', '!=', '"') then
    perform logloom_private.refuse_at(p_state.positions[p_state."at"], p_error, p_stage);
  end if;
  if p_stage = 'by' and p_state.texts[p_state."at" + 1] = '('
    and v_token in ('bin', 'bucket', 'time', '_time', 'span', 'timeslice')
  then
    -- by bin(5m), bin(ts, 5m), time(5m)
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'stages.width_is_a_bracket',
      logloom_private.query_excerpt(v_token),
      coalesce(
        (
          select t
          from unnest(p_state.texts[p_state."at" + 2:]) t
          where t ~ '^[1-9][0-9]{0,4}[smhdw]$'
          limit 1
        ),
        '5m'
      )
    );
  end if;
  p_state.node := logloom_private.query_field(
    v_token, p_state.positions[p_state."at"], p_stage
  );
  if v_token = 'any' then
    perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'stages.any_is_for_filters');
  end if;
  p_state."at" := p_state."at" + 1;
  return logloom_private.query_spend(p_state, 1);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_warn_free (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_word constant text := lower(v_token collate "C");
  v_next constant text := lower(coalesce(p_state.texts[p_state."at" + 1], '') collate "C");
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  v_suggestion := logloom_private.query_meant_words(p_state.texts, p_state."at");
  if v_suggestion is not null then
    v_message := format('%s is looked for as a word: a field is followed by a colon', v_token);
  elsif exists (
    select
    from generate_series(1, 6) n
    where p_state.positions[p_state."at" - n]
        = (p_state.warnings -> -1 ->> 'position')::integer
      and (n < 3 or lower(p_state.texts[p_state."at" - n + 1] collate "C") = 'in')
      and logloom_private.query_meant_words(p_state.texts, p_state."at" - n) is not null
  ) then
    -- It belongs to a comparison that has its warning.
    return p_state;
  elsif v_word in ('and', 'or', 'not') and (p_state."at" > 1 or v_next not in ('', '|')) then
    v_message := format('%s is looked for as a word: operators are in upper case', v_token);
    v_suggestion := upper(v_word);
  elsif v_word in ('count', 'count_distinct', 'sum', 'avg', 'min', 'max', 'rate', 'stats', 'sort')
    and v_next = 'by'
  then
    v_message := format('%s by is looked for as words: an aggregate follows a |', v_token);
    v_suggestion := case v_word when 'sort' then '| sort by ' when 'rate' then '| rate() by '
      else '| count() by ' end || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_word in ('order', 'group') and v_next = 'by' then
    v_message := format('%s by is looked for as words: a stage follows a |', v_token);
    v_suggestion := case v_word when 'order' then '| sort by ' else '| count() by ' end
      || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_next = '(' and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
    and v_word not in ('and', 'or', 'not')
  then
    -- avg(duration_ms), exists(user_id), i(error): (a)(b) need no blank between them.
    v_message := format('%s is looked for as a word, beside what its brackets hold', v_token);
    v_suggestion := case v_word
      when 'exists' then
        logloom_private.query_meant_name(p_state.texts[p_state."at" + 2]) || ':*'
      else logloom_private.query_meant_stage(p_state.texts[p_state."at":], '{}') end;
  elsif v_word in ('limit', 'head', 'take', 'top') and v_next ~ '^[0-9]+$' then
    v_message := format('%s is looked for as a word: a stage follows a |', v_token);
    v_suggestion := '| limit ' || v_next;
  elsif v_word = 'select' and p_state."at" = 1
    and (
      v_next ~ '^[0-9(]'
      or lower(p_state.texts::text collate "C")::text[] && array['from', '*', 'where']
    )
  then
    v_message := 'This is no SQL: each of its words is looked for in msg';
    v_suggestion := 'service:api level:error';
  elsif v_token ~ '^[+]?[0-9]{1,10}[smhdw]$' and p_state.texts[p_state."at" - 1] = 'now' then
    v_message := 'A shift from now is written without a blank: this one is looked for as a text';
    v_suggestion := 'now' || case left(v_token, 1) when '+' then '' else '-' end || v_token;
  elsif v_token in ('!=', '!~') and p_state.texts[p_state."at" + 1] like '"%' then
    v_message := format('%s is looked for as a word: - negates', v_token);
    v_suggestion := case v_token when '!~' then '-msg:~' else '-' end
      || p_state.texts[p_state."at" + 1];
  elsif v_token ~ '^!.' then
    v_message := '! is a plain character: ' || v_token || ' is looked for with it';
    v_suggestion := '-' || substr(v_token, 2);
  elsif v_token ~ '^[+][[:alpha:]]' then
    v_message := '+ is a plain character: ' || v_token || ' is looked for with it';
    v_suggestion := substr(v_token, 2);
  elsif v_token ~ '^[[:alpha:]]+[~^][0-9.]*$' then
    v_message := 'No term is fuzzy or boosted: ' || v_token || ' is looked for as it is';
    v_suggestion := rtrim(v_token, '~^.0123456789');
  elsif v_token ~ '^%.+%$' then
    v_message := '% is no wildcard: a word is found anywhere in msg as it is';
    v_suggestion := btrim(v_token, '%');
  else
    v_trap := logloom_private.query_word_trap(p_state, v_token);
    v_message := v_trap[1];
    v_suggestion := case when left(v_trap[2], 1) = '~' then 'msg:' else '' end
      || v_trap[2];
    if v_message is null then
      v_suggestion := logloom_private.query_meant_comparison(v_token);
      v_message := v_token || ' is looked for as a text: a field is followed by a colon';
    end if;
  end if;
  return logloom_private.query_warn(
    p_state, p_state.positions[p_state."at"], v_message, v_suggestion
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_warn_value (
  p_state    logloom_private.query_state,
  p_field    jsonb,
  p_sign     text,
  p_token    text,
  p_position integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := p_field ->> 'name';
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  if p_sign = '=' then
    -- = or a comparison of other languages.
    if p_token ~ '^=+[^=]' then
      v_message := 'The second = belongs to the value that is looked for';
      v_suggestion := format('%s:=%s', v_name, ltrim(p_token, '='));
    elsif p_token ~ '^[<>].' then
      v_message := format('The value %s is looked for: = stands after > or <', p_token);
      v_suggestion := format('%s:%s=%s', v_name, left(p_token, 1), substr(p_token, 2));
    end if;
  elsif left(p_token, 1) = '"' then
    return p_state;
  elsif p_token ~* '^!=*null$' then
    v_message := 'null is looked for as a text: a field without a value is found by :*';
    v_suggestion := v_name || ':*';
  elsif p_token = 'in' and p_state.texts[p_state."at" + 1] = '('
    and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
  then
    v_message := 'in is looked for as a value, beside what its brackets hold';
    v_suggestion := v_name || ':(' || regexp_replace(
      array_to_string(
        p_state.texts[p_state."at" + 2:array_position(p_state.texts, ')', p_state."at") - 1], ' '
      ),
      '\s*,\s*', ' OR ', 'g'
    ) || ')';
  elsif p_token ~ '^!=*.' then
    v_message := format('! is a plain character: the value %s is looked for', p_token);
    v_suggestion := format('-%s:%s', v_name, regexp_replace(p_token, '^!=*', ''));
  elsif p_token ~* '^null$' then
    v_message := 'null is looked for as a text: a field without a value is found by :*';
    v_suggestion := format('-%s:*', v_name);
  elsif (p_field ->> 'field') in ('service', 'env', 'host')
    and p_token ~ '^[^,\\]+(?:,[^,\\]+)+$'
  then
    v_message := 'A comma is a plain character: this is one value';
    v_suggestion := format('%s:(%s)', v_name, replace(p_token, ',', ' OR '));
  elsif p_field ->> 'field' = 'attrs' and p_token ~* '^[1-5]xx$' then
    v_message := format('%s is looked for as a text: numbers have ranges', p_token);
    v_suggestion := format('%s:[%s00 TO %2$s99]', v_name, left(p_token, 1));
  else
    v_trap := logloom_private.query_word_trap(p_state, p_token);
    v_message := v_trap[1];
    v_suggestion := v_name || ':' || v_trap[2];
  end if;
  if v_suggestion is null then
    return p_state;
  end if;
  return logloom_private.query_warn(p_state, p_position, v_message, v_suggestion);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_by_key (
  p_key_digest text,
  p_operation  text,
  p_parameters jsonb
)
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the digests of keys
begin
  return logloom_private.read_in_scope(
    logloom_private.scope_of_key(p_key_digest), p_operation, p_parameters
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_groups (
  p_block   logloom_private.blocks,
  p_bits    bit varying,
  p_by      text[],
  p_counts  boolean,
  p_key     text,
  p_doubles boolean
)
  RETURNS TABLE (
    keys    text[],
    events  bigint,
    numbers bigint,
    total   numeric,
    minimum numeric,
    maximum numeric,
    doubles double precision[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query execute format(
    $query$
      select
        g.keys, case when $4 then count(*) else 0 end, count(g.number), sum(g.number),
        min(g.number), max(g.number), %s
      from (
        select array[%s]::text[] as keys, %s as number
        from logloom_private.sealed_records($1, $2, $3) g
      ) g
      group by 1
    $query$,
    case when p_doubles then
      'array_agg(logloom_private.finite_double(g.number)) filter (where g.number is not null)'
      else 'null::double precision[]' end,
    array_to_string(
      array(
        select case
          when b.name like 'attrs.%' then format('(g.attrs -> %L)::text', substr(b.name, 7))
          else format('g.%I', b.name)
        end
        from unnest(p_by) with ordinality b (name, n)
        order by b.n
      ),
      ', '
    ),
    case when p_key is null then 'null::numeric'
      else format('logloom_private.json_number(g.attrs -> %L)', p_key) end
  )
  using p_block,
    case when bit_count(p_bits) < p_block.records then logloom_private.bit_positions(p_bits) end,
    array_remove(p_by || ('attrs.' || p_key), null), p_counts;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_in_scope (
  p_scope      logloom_private.reading_scope,
  p_operation  text,
  p_parameters jsonb
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_reader text;
  v_operation pg_proc;
  v_unknown text;
  v_arguments text;
  v_invalid record;
  v_answer json;
begin
  select o.reader into v_reader
  from logloom_private.reading_operations() o
  where o.operation = p_operation;
  if not found then
    perform logloom_private.refuse('reading.operation_is_unknown', p_operation);
  elsif jsonb_typeof(p_parameters) <> 'object' then
    perform logloom_private.refuse('reading.parameters_are_no_object');
  end if;
  select p.* into v_operation
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.proname = p_operation;
  select min(n) into v_unknown
  from jsonb_object_keys(p_parameters) n
  where n <> all (v_operation.proargnames);
  if v_unknown is not null then
    perform logloom_private.refuse(
      'reading.parameter_is_unknown', left(v_unknown, 60),
      array_to_string(v_operation.proargnames, ', ')
    );
  end if;
  select a.name, format_type(a.type, null) as type into v_invalid
  from unnest(v_operation.proargnames, v_operation.proargtypes) a (name, type)
  where not pg_input_is_valid(p_parameters ->> a.name, format_type(a.type, null));
  if found then
    perform logloom_private.refuse(
      'reading.parameter_is_invalid', v_invalid.name, v_invalid.type
    );
  end if;
  select string_agg(format(', ($2 ->> %L)::%s', a.name, format_type(a.type, null)), '' order by a.n)
  into v_arguments
  from unnest(v_operation.proargnames, v_operation.proargtypes) with ordinality a (name, type, n);
  execute format(
    case when v_operation.proretset
      then 'select coalesce(json_agg(r), ''[]'') from logloom_private.%I($1%s) r'
      else 'select to_json(r) from logloom_private.%I($1%s) r' end,
    v_reader, v_arguments
  )
  into v_answer
  using p_scope, p_parameters;
  return v_answer;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log (
  p_scope logloom_private.reading_scope,
  p_id    uuid,
  p_ts    timestamp with time zone
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
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log');
  v_tenant_id constant text := v_scope.tenant_id;
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
  v_received_at := to_timestamp(
    ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0
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
  -- Then all that is sealed, of which the blocks know the ids, and the days of rows, newest first.
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
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log(p_scope, p_id, p_ts);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_context (
  p_scope  logloom_private.reading_scope,
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
  v_log := logloom_private.read_log(p_scope, p_id, p_ts);
  -- Half of what is left to each side, and a record at least.
  v_bytes := greatest((v_bytes - logloom_private.answered_bytes(array[v_log])) / 2, 1);
  return query
  select b.*
  from unnest(logloom_private.log_neighbours(v_log, v_before, 'desc', v_bytes)) b
  order by b.ts, b.id;
  return next v_log;
  return query
  select a.* from unnest(logloom_private.log_neighbours(v_log, v_after, 'asc', v_bytes)) a;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_context(p_scope, p_id, p_ts, p_before, p_after) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_fields (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text
)
  RETURNS SETOF public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET work_mem TO '4MB'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_log_fields');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  return query execute logloom_private.log_fields_sql(
    v_tenant_id, logloom_private.bound_query(v_tenant_id, v_query, v_range)
  );
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_fields(p_scope, p_query_dsl, p_ts_from, p_ts_to) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_histogram (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
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
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_histogram');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.logloom_log_bucket[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  execute 'select array('
    || logloom_private.log_histogram_sql(v_tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.logloom_log_histogram;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_histogram(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_page (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
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
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'search_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_order text;
  v_now timestamptz := now();
  v_first tstzrange;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_left integer;
  v_after text[];
  v_times timestamptz[];
  v_page record;
  v_cursor text;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_cursor is not null then
    v_after := logloom_private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18})'
        || ' ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?: (\d{1,6}))?$'
    );
    v_times := array(
      select 'epoch'::timestamptz + (m || ' microseconds')::interval from unnest(v_after[2:5]) m
    );
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_first := tstzrange(v_times[2], v_times[3]);
    v_now := v_times[4];
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to, v_first);
  v_query := logloom_private.search_query(p_query_dsl, v_now, 'records');
  -- That of the query's sort, or p_order.
  v_order := case (v_query.plan -> 'sort' -> 0 -> 'descending')::boolean
    when true then 'desc' when false then 'asc' end;
  if p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  elsif v_order <> p_order then
    perform logloom_private.refuse('search.order_is_another', v_order);
  end if;
  v_order := coalesce(v_order, p_order, 'desc');
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
    v_tenant_id, v_query, v_range, v_limit, v_order, v_times[1], v_after[6]::uuid
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor := logloom_private.encode_cursor(
      array['page', v_order]
        || array(
          select (extract(epoch from t) * 1000000)::bigint::text
          from unnest(array[v_page.last_ts, lower(v_range), upper(v_range), v_now]) t
        )
        || array[v_page.last_id::text, v_left::text]
    );
  end if;
  return row(
    v_page.logs, v_cursor, lower(v_range), upper(v_range),
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
    )
  )::public.logloom_log_page;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_page(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_series (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
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
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_series');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'series');
  v_seconds := coalesce((v_query.plan -> 'bucket')::bigint, v_seconds);
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
    v_seconds, coalesce(v_series, '{}'),
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
    )
  )::public.logloom_log_series_answer;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_series(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_stats (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
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
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_stats');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
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
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_stats(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_tail (
  p_scope     logloom_private.reading_scope,
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
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'tail_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
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
  select coalesce(max(a.write_seq), 0) into v_last from logloom_private.log_writes a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Write sequences and records are of one snapshot: what is not here yet comes after this
    -- cursor.
    if p_backlog > 0 then
      v_tail.logs := array(
        select l
        from unnest((
          logloom_private.found_page(
            v_tenant_id, v_query,
            -- An event lies 24 hours ahead at most.
            tstzrange(
              now() - (select s.tail_backlog_span from logloom_private.settings s),
              now() + interval '25 hours'
            ),
            p_backlog, 'desc', null, null
          )
        ).logs) l
        order by l.ts, l.id
      );
    end if;
  else
    v_after := logloom_private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_tail.first := v_after[1];
    v_tail.id := v_after[2];
    if v_tail.first > 1 + (select q.last_value from logloom_private.write_seq q) then
      perform logloom_private.refuse('search.cursor_lies_ahead');
    end if;
  end if;
  v_tail.logs := coalesce(v_tail.logs, '{}');
  v_tail.more := false;
  v_tail := logloom_private.advance_log_tail(v_tenant_id, v_query, v_limit, v_last, v_tail);
  if not v_tail.more then
    -- All of the last write sequence was seen. The days of later ones may be gone.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_tail(p_scope, p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_query_validity (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text
)
  RETURNS public.logloom_query_validity
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role calls the compiler's parts
begin
  p_scope := logloom_private.checked_scope(p_scope, 'validate_query');
  perform logloom_private.take_validation_slot(p_scope.tenant_id);
  return jsonb_populate_record(
    null::public.logloom_query_validity, logloom_private.query_verdict(p_query_dsl)
  );
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_saved_search (
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
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
  v_query constant logloom_private.compiled_query :=
    logloom_private.search_query(p_query_dsl, now(), 'any');
  v_range tstzrange;
  v_run public.logloom_saved_search_run;
begin
  if not v_query.plan ?| array['aggregates', 'patterns'] then
    select p.logs, p.next_cursor, p.ts_from, p.ts_to
    into v_run.logs, v_run.next_cursor, v_run.ts_from, v_run.ts_to
    from logloom_private.read_log_page(
      null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, null
    ) p;
    return v_run;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_run.logs := '{}';
  v_run.ts_from := lower(v_range);
  v_run.ts_to := upper(v_range);
  v_run.stats := array(
    select s
    from logloom_private.read_log_stats(null, p_query_dsl, p_ts_from, p_ts_to, p_limit) s
  );
  return v_run;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reading_errors()
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
    ('reading.operation_is_unknown', 404, 'No such reading operation: %s',
      'What a key reads by: POST /v1/search_logs, log_stats, tail_logs and so on.', null),
    ('reading.parameters_are_no_object', 400, 'Invalid parameters: send a JSON object',
      '{} where there are none.', null),
    ('reading.parameter_is_unknown', 400, 'Unknown parameter: %s', 'It takes %2$s.', null),
    ('reading.parameter_is_invalid', 400, 'Invalid %s: not of the type %s', null, null)
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reading_operations()
  RETURNS TABLE (
    operation text,
    reader    text
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select o.*
  from (
    values
      ('get_log', 'read_log'),
      ('get_log_context', 'read_log_context'),
      ('list_log_fields', 'read_log_fields'),
      ('log_histogram', 'read_log_histogram'),
      ('log_series', 'read_log_series'),
      ('log_stats', 'read_log_stats'),
      ('search_logs', 'read_log_page'),
      ('tail_logs', 'read_log_tail'),
      ('validate_query', 'read_query_validity')
  ) o (operation, reader);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse (
  p_name   text,
  VARIADIC p_values text[] DEFAULT '{}'::text[]
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  if v_error.hint is null then
    raise exception using
      errcode = 'PT' || v_error.status,
      message = v_error.message,
      detail = jsonb_build_object('name', p_name);
  end if;
  raise exception using
    errcode = 'PT' || v_error.status,
    message = v_error.message,
    detail = jsonb_build_object('name', p_name),
    hint = v_error.hint;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_and_keep (
  p_name   text,
  VARIADIC p_values text[] DEFAULT '{}'::text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST's way to the status of an answer; an error raised would take back what was written.
  perform set_config('response.status', v_error.status::text, true);
  return jsonb_build_object(
    'code', 'PT' || v_error.status, 'message', v_error.message,
    'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_at (
  p_position integer,
  p_name     text,
  VARIADIC   p_values text[] DEFAULT '{}'::text[]
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  raise exception using
    errcode = 'PT' || v_error.status,
    message = v_error.message,
    detail = jsonb_build_object('name', p_name, 'position', p_position),
    hint = v_error.hint;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_with_headers (
  p_headers jsonb,
  p_name    text,
  VARIADIC  p_values text[] DEFAULT '{}'::text[]
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST's way to an answer with headers.
  raise sqlstate 'PGRST' using
    message = json_build_object(
      'code', 'PT' || v_error.status, 'message', v_error.message,
      'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
    ),
    detail = json_build_object('status', v_error.status, 'headers', p_headers);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reject_events (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_request
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_kept constant boolean[] := array(
    select (e.ts between p_state.keeps_from and p_state.takes_to) is not false
      and (e.service = p_state.service) is not false
    from unnest(p_request.p_ts, p_request.p_service) with ordinality e (ts, service, i)
    order by e.i
  );
begin
  p_request.p_errors := (
    select json_agg(u.error)
    from (
      select j.error, (j.error ->> 'index')::integer as index
      from json_array_elements(coalesce(p_request.p_errors, '[]')) j (error)
      union all
      select
        json_build_object(
          'index', o.index,
          'code', case
            when o.is_of_another then 'service_is_another' else 'ts_out_of_range'
          end,
          'message', case
            when o.is_of_another then format(
              'The token sends for the service %s alone', p_state.service
            )
            when o.ts > p_state.takes_to then format(
              'ts lies more than %s h ahead',
              (
                select (extract(epoch from s.ingest_future_limit) / 3600)::real
                from logloom_private.settings s
              )
            )
            else format(
              'ts is older than what is kept: %s days',
              logloom_private.retention_days(p_state.tenant_id)
            )
          end
        ),
        o.index
      from (
        select
          e.ts, (e.service <> p_state.service) is true as is_of_another,
          coalesce(p_request.p_positions[e.i], e.i - 1)::integer as index
        from unnest(p_request.p_ts, p_request.p_service, v_is_kept)
          with ordinality e (ts, service, is_kept, i)
        where not e.is_kept
      ) o
      order by index
      limit 100
    ) u
  );
  p_request.p_rejected := coalesce(p_request.p_rejected, 0)
    + cardinality(array_positions(v_is_kept, false));
  -- fields sent: p_request.p_{name} := logloom_private.kept_values(p_request.p_{name}, v_is_kept);
  p_request.p_ts := logloom_private.kept_values(p_request.p_ts, v_is_kept);
  p_request.p_level := logloom_private.kept_values(p_request.p_level, v_is_kept);
  p_request.p_msg := logloom_private.kept_values(p_request.p_msg, v_is_kept);
  p_request.p_service := logloom_private.kept_values(p_request.p_service, v_is_kept);
  p_request.p_env := logloom_private.kept_values(p_request.p_env, v_is_kept);
  p_request.p_req_id := logloom_private.kept_values(p_request.p_req_id, v_is_kept);
  p_request.p_user_id := logloom_private.kept_values(p_request.p_user_id, v_is_kept);
  p_request.p_route := logloom_private.kept_values(p_request.p_route, v_is_kept);
  p_request.p_host := logloom_private.kept_values(p_request.p_host, v_is_kept);
  p_request.p_attrs := logloom_private.kept_values(p_request.p_attrs, v_is_kept);
  -- fields end
  return p_request;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replace_partition (
  p_day date
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_partition constant text := logloom_private.partition_name(p_day);
  v_copy constant text := logloom_private.remainder_name(p_day);
  v_lock_wait text;
  v_day logloom_private.sealing_days;
  v_last_write bigint;
  v_records bigint;
  v_write_seq bigint;
begin
  select d.* into v_day from logloom_private.sealing_days d where d.day = p_day;
  if logloom_private.has_older_snapshot(v_day.prepared_by)
    or logloom_private.has_older_snapshot(v_day.removed_by)
  then
    return 'waiting';
  end if;
  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    -- From here on nobody takes records out. They are counted before the writer's lock, since that
    -- takes long: whatever the writer adds meanwhile is a write to the day. Nor is the partition
    -- dropped once it was read.
    perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
    v_last_write := logloom_private.last_write_to(p_day);
    -- Retention drops a day of which nobody has a row, and one that nobody keeps.
    if logloom_private.partition_exists(p_day) then
      execute format('select count(*), max(l.write_seq) from only logloom.%I l', v_partition)
      into v_records, v_write_seq;
    end if;
    if (v_records, v_write_seq) is not distinct from
      (v_day.prepared_records, v_day.prepared_write_seq)
    then
      perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
      perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
    end if;
    if (v_records, v_write_seq, v_last_write) is distinct from
      (v_day.prepared_records, v_day.prepared_write_seq, logloom_private.last_write_to(p_day))
    then
      perform logloom_private.forget_replacement(p_day);
      perform logloom_private.restore_lock_wait(v_lock_wait);
      return 'changed';
    end if;
    -- From here on every reader of logloom.logs waits for the commit.
    execute format('drop table logloom.%I', v_partition);
    if v_records > 0 then
      execute format('alter table logloom.%I rename to %I', v_copy, v_partition);
      execute format(
        'alter table logloom.logs attach partition logloom.%I for values from (%L) to (%L)',
        v_partition, p_day::timestamp at time zone 'UTC',
        (p_day + 1)::timestamp at time zone 'UTC'
      );
      execute format('alter table logloom.%I drop constraint logs_remaining_day', v_partition);
    end if;
    update logloom_private.sealing_days d
    set removed_records = 0, prepared_by = null
    where d.day = p_day;
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'replaced';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_of_text (
  p_text text
)
  RETURNS logloom_private.ingest_request
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_parts constant text[] := string_to_array(p_text, e'\x1e', '');
  v_us constant text := e'\x1f';
  v_gs constant text := e'\x1d';
  v_request logloom_private.ingest_request :=
    json_populate_record(null::logloom_private.ingest_request, v_parts[1]::json);
begin
  if cardinality(v_parts) = 1 then
    return v_request;
  end if;
  v_request.p_ts := coalesce(string_to_array(v_parts[2], v_us, v_gs)::timestamptz[], '{}');
  -- fields sent but ts, attrs: v_request.p_{name} := string_to_array(v_parts[1 + {n}], v_us, v_gs);
  v_request.p_level := string_to_array(v_parts[1 + 2], v_us, v_gs);
  v_request.p_msg := string_to_array(v_parts[1 + 3], v_us, v_gs);
  v_request.p_service := string_to_array(v_parts[1 + 4], v_us, v_gs);
  v_request.p_env := string_to_array(v_parts[1 + 5], v_us, v_gs);
  v_request.p_req_id := string_to_array(v_parts[1 + 6], v_us, v_gs);
  v_request.p_user_id := string_to_array(v_parts[1 + 7], v_us, v_gs);
  v_request.p_route := string_to_array(v_parts[1 + 8], v_us, v_gs);
  v_request.p_host := string_to_array(v_parts[1 + 9], v_us, v_gs);
  -- fields end
  -- fields json: v_request.p_{name} := logloom_private.objects_of_text(v_parts[1 + {n}]);
  v_request.p_attrs := logloom_private.objects_of_text(v_parts[1 + 10]);
  -- fields end
  return v_request;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rough_shapes_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_records   integer,
  p_templates integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_counted constant boolean := not p_query.plan ? 'rows'
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows text;
begin
  -- The newest, for there may be more than can be looked at.
  v_rows := case
    when v_is_counted then logloom_private.rows_sql(
      p_tenant_id, p_query.ts_from, p_query.ts_to, p_query.filter, array['ts', 'id', 'msg'],
      'desc', p_records + 1
    ) || ' order by l.ts desc, l.id desc limit ' || p_records + 1
    else logloom_private.first_records_sql(
      p_tenant_id, p_query, p_records + 1, 'desc',
      p_reads => case when p_query.plan ? 'rows' then null else array['msg'] end
    )
  end;
  return 'select ' || logloom_private.rough_shape_sql('r.msg') || ' as shape, '
    || 'count(*) as count, (extract(epoch from min(r.ts)) * 1000000)::bigint as first, '
    || '(extract(epoch from max(r.ts)) * 1000000)::bigint as last, '
    || 'min(left(r.msg, 1000) collate "C") as example, null::bigint[] as place, '
    || 'sum(count(*)) over () > ' || p_records || ' as is_cut from (select l.ts, l.msg '
    || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
    || ') r group by 1'
    || case when v_is_counted then ' union all select '
      || logloom_private.rough_shape_sql('t.template')
      || ', t.count, t.first, t.last, null, t.place, t.is_cut '
      || 'from (select s.template, sum(s.events) as count, min(s.first_us) as first, '
      || 'max(s.last_us) as last, min(s.place) as place, '
      || 'sum(count(*)) over () > ' || p_templates
      || ' as is_cut from logloom_private.sealed_patterns('
      || format(
        '%s, %L, %L, %L, %s',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
        p_query.ts_from, p_query.ts_to, p_query.tree, p_templates
      )
      || ') s group by s.template) t'
    else '' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.run_numbers (
  p_run_records integer[],
  p_bits        bit varying,
  p_first       integer,
  p_last        integer,
  p_numbers     anyarray,
  p_exact       boolean,
  p_doubles     boolean
)
  RETURNS TABLE (
    run     integer,
    events  bigint,
    total   numeric,
    minimum numeric,
    maximum numeric,
    doubles double precision[]
  )
  LANGUAGE plpgsql
  STABLE
  ROWS 20
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_is_numeric constant boolean := pg_typeof(p_numbers) = 'numeric[]'::regtype;
begin
  return query
  select
    f.run, t.events, t.total, t.minimum, t.maximum,
    case
      when not p_doubles then null
      when v_is_numeric then array(
        select logloom_private.finite_double(u.number::numeric)
        from (select unnest(f.numbers) as number) u
      )
      else f.numbers::double precision[]
    end
  from (
    -- "|| '{}'" makes one array of which each takes its part.
    select
      s.run, case
        when s.is_whole then a.numbers[s.first - p_first + 1:s.last - p_first + 1]
        else array(
          select u.number
          from (
            select
              generate_series(s.first, s.last) as n,
              unnest(a.numbers[s.first - p_first + 1:s.last - p_first + 1]) as number
          ) u
          where get_bit(p_bits, u.n - 1) = 1
        )
      end as numbers
    from (select p_numbers || '{}' as numbers offset 0) a
    cross join logloom_private.found_runs(p_run_records, p_bits, p_first, p_last) s
    offset 0
  ) f
  cross join lateral (
    select
      count(u.number) as events, sum(u.number)::numeric as total,
      min(u.number)::numeric as minimum, max(u.number)::numeric as maximum
    from (select unnest(f.numbers) as number) u
    where p_exact
  ) t;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.run_texts (
  p_block     logloom_private.blocks,
  p_positions integer[],
  p_reads     text[],
  OUT         services text[],
  OUT         levels text[],
  OUT         messages text[]
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_runs integer[];
begin
  if p_reads is null or p_reads && array['service', 'level', 'msg.exists'] then
    v_runs := logloom_private.block_runs(p_block, p_positions);
    services := logloom_private.elements_at(p_block.run_services, v_runs);
    levels := logloom_private.elements_at(p_block.run_levels, v_runs);
    if 'msg.exists' = any(p_reads) then
      messages := logloom_private.elements_at(
        array(select case when t > 0 then '' end from unnest(p_block.run_templates) t), v_runs
      );
    end if;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_key (
  p_key_digest text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_scope logloom_private.reading_scope;
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  elsif not v_key.scopes @> '{read}' then
    perform logloom_private.refuse('callers.key_may_only_send');
  end if;
  perform logloom_private.note_key_use(v_key);
  v_scope.tenant_id := v_key.tenant_id;
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_token()
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope.tenant_id := logloom_private.resolve_tenant();
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.seal_block (
  p_tenant_id    text,
  p_days         date[],
  p_holds_counts boolean DEFAULT false
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_day date;
  v_oldest record;
  v_range text;
  v_ranges text[] := '{}';
  v_holds_counts constant boolean := p_holds_counts or cardinality(p_days) > 1;
  v_block logloom_private.blocks;
  v_removed integer;
  v_records integer := 0;
begin
  foreach v_day in array p_days loop
    -- A block has one record at least, however large that is.
    v_oldest := logloom_private.block_range(
      p_tenant_id, v_day, cardinality(p_days), (v_ranges = '{}')::integer
    );
    continue when v_oldest.first_ts is null;
    -- From the first one on: before it stand the index entries of what was sealed.
    v_ranges := v_ranges || format(
      'from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
        || 'and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)',
      p_tenant_id, v_oldest.first_ts, v_oldest.last_ts, v_oldest.last_ts, v_oldest.last_id
    );
  end loop;
  if v_ranges = '{}' then
    return 0;
  end if;
  v_block := logloom_private.write_block(
    p_tenant_id,
    logloom_private.read_records(
      (select string_agg('select l.* ' || r.range, ' union all ') from unnest(v_ranges) r (range))
    ),
    v_holds_counts
  );
  foreach v_range in array v_ranges loop
    -- Not by removed_records_sql, which says that records are gone. What came after it was read is
    -- of a later step of the writer.
    execute 'delete ' || v_range || ' and l.write_seq <= $1' using v_block.last_write_seq;
    get diagnostics v_removed = row_count;
    v_records := v_records + v_removed;
  end loop;
  if v_records <> v_block.records then
    raise sqlstate 'LL001' using
      message = format('%s records are sealed, and %s removed', v_block.records, v_records);
  end if;
  if v_holds_counts then
    perform logloom_private.count_sealed(v_block, null, -1);
  end if;
  insert into logloom_private.sealing_days as d (day, removed_records, removed_by)
  select d.day, v_records, pg_current_xact_id()
  from unnest(p_days) d (day)
  on conflict (day) do update
  set removed_records = d.removed_records + excluded.removed_records,
    removed_by = excluded.removed_by;
  return v_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_groups (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_by        text[],
  p_key       text                     DEFAULT NULL::text,
  p_exact     boolean                  DEFAULT false,
  p_doubles   boolean                  DEFAULT false
)
  RETURNS TABLE (
    keys    text[],
    events  bigint,
    numbers bigint,
    total   numeric,
    minimum numeric,
    maximum numeric,
    doubles double precision[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_counted bigint[] := '{}';
  v_block logloom_private.blocks;
  v_bits varbit;
begin
  if p_tree ->> 'type' = 'all' and cardinality(p_by) = 1
    and p_by[1] not in ('service', 'level')
  then
    v_counted := logloom_private.blocks_with_counts(
      p_tenant_id, v_blocks, p_from, p_to, p_by[1]
    );
    return query
    with counted as materialized (
      select d.value, sum(d.count)::bigint as events
      from (
        select k.dictionary, k.counts
        from logloom_private.block_columns k
        where k.tenant_id = p_tenant_id and k.block_id = any(v_counted) and k.name = p_by[1]
          and logloom_private.take_scan_slot()
        -- Asked once a block, not once a value.
        offset 0
      ) k
      cross join lateral unnest(k.dictionary, k.counts) d (value, count)
      group by d.value
    ), valueless as (
      select sum(b.records)::bigint - coalesce((select sum(c.events) from counted c), 0) as events
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.block_id = any(v_counted)
    )
    select
      array[c.value], c.events::bigint, 0::bigint, null::numeric, null::numeric, null::numeric,
      null::double precision[]
    from (
      select c.* from counted c
      union all
      select null, v.events from valueless v where v.events > 0
    ) c;
  end if;
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks) and (p_key is not null or c.block_id <> all(v_counted))
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    return query
    select g.*
    from logloom_private.block_groups(
      v_block, v_bits, p_by, v_block.block_id <> all(v_counted), p_key, p_exact, p_doubles
    ) g;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_messages (
  p_tenant_id text,
  p_places    bigint[]
)
  RETURNS TABLE (
    place bigint[],
    msg   text
  )
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_times bigint[];
  v_positions integer[];
  v_wanted record;
begin
  for v_wanted in
    select
      u.block_id, array_agg(u.time order by u.position) as times,
      array_agg(u.position order by u.position) as positions
    from (
      select p_places[n][1] as time, p_places[n][2] as block_id, p_places[n][3]::integer as position
      from generate_series(1, coalesce(array_length(p_places, 1), 0)) n
    ) u
    group by u.block_id
  loop
    select c.* into v_block
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = v_wanted.block_id;
    return query
    select array[m.time, v_wanted.block_id, m.position], m.msg
    from unnest(
      v_wanted.times, v_wanted.positions,
      logloom_private.block_messages_at(v_block, v_wanted.positions)
    ) m (time, position, msg);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_patterns (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_limit     integer                  DEFAULT NULL::integer
)
  RETURNS TABLE (
    template text,
    events   bigint,
    first_us bigint,
    last_us  bigint,
    place    bigint[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_block logloom_private.blocks;
  v_bits varbit;
  v_templates text[];
  v_events integer[];
  v_first integer[];
  v_last integer[];
  v_steps bigint[];
  v_from bigint;
  v_rows integer := 0;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks)
    order by c.last_ts desc
  loop
    exit when v_rows > p_limit;
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    select
      array_agg(t.template), array_agg(t.events), array_agg(t.first), array_agg(t.last)
    into v_templates, v_events, v_first, v_last
    from logloom_private.block_templates(v_block, v_bits) t;
    v_rows := v_rows + cardinality(v_first);
    v_steps := logloom_private.block_steps(v_block, v_first || v_last);
    v_from := extract(epoch from v_block.first_ts) * 1000000;
    return query
    select
      u.template, u.events::bigint, u.first, u.last, array[u.first, v_block.block_id, u.position]
    from (
      select
        s.template, s.events, v_from + s.first * v_block.ts_unit as first,
        v_from + s.last * v_block.ts_unit as last, s.position
      from unnest(
        v_templates, v_events, v_steps[:cardinality(v_first)],
        v_steps[cardinality(v_first) + 1:], v_first
      ) s (template, events, first, last, position)
    ) u;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_records (
  p_block     logloom_private.blocks,
  p_positions integer[],
  p_reads     text[]
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_block.records);
  v_needs_attrs constant boolean := p_reads is null
    or exists (select from unnest(p_reads) r where left(r, 5) = 'attrs');
  v_batch_received_at timestamptz[] := p_block.batch_received_at;
  v_batch_write_seqs bigint[] := p_block.batch_write_seqs;
  v_ts timestamptz[];
  v_batches integer[];
  v_ids uuid[];
  v_level text[];
  v_msg text[];
  v_service text[];
  -- fields column: v_{name} text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_record_bytes text[];
  -- fields end
  v_attrs jsonb[];
  v_names text[] := '{}';
  v_first integer[] := '{}';
  v_last integer[] := '{}';
  v_values logloom_private.column_values[] := '{}';
  v_texts text[];
  v_column logloom_private.block_columns;
  v_lower integer;
  v_upper integer;
begin
  if p_reads is null or 'ts' = any(p_reads) then
    v_ts := logloom_private.block_times(p_block, p_positions);
  end if;
  if p_reads is null or p_reads && array['id', 'received_at', 'write_seq'] then
    v_batches := logloom_private.block_batches(p_block, p_positions);
    v_ids := logloom_private.block_ids(p_block, p_positions, v_batches);
  end if;
  select r.services, r.levels, r.messages into v_service, v_level, v_msg
  from logloom_private.run_texts(p_block, p_positions, p_reads) r;
  if p_reads is null or 'msg' = any(p_reads) then
    -- Reading a message by its place takes several times as long as reading it in passing.
    v_msg := case
      when p_positions is null then logloom_private.block_messages(p_block)
      when v_records * 4 <= p_block.records
        then logloom_private.block_messages_at(p_block, p_positions)
      else logloom_private.elements_at(logloom_private.block_messages(p_block), p_positions)
    end;
  end if;
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and (
        p_reads is null or c.name = any(p_reads) or c.name = 'attrs' and v_needs_attrs
        or left(c.name, 6) = 'attrs.' and 'attrs' = any(p_reads)
      )
    -- As jsonb has its keys: a whole record's text is that which jsonb has.
    order by octet_length(c.name), c.name collate "C"
  loop
    if p_positions is null then
      v_lower := v_column.first;
      v_upper := v_column.last;
      v_texts := logloom_private.column_texts(v_column);
    else
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
      continue when v_lower > v_upper;
      v_texts := logloom_private.column_texts_at(v_column, p_positions[v_lower:v_upper]);
    end if;
    if left(v_column.name, 5) = 'attrs' then
      v_names := v_names || v_column.name;
      v_first := v_first || v_lower;
      v_last := v_last || v_upper;
      v_values := v_values || row(v_texts)::logloom_private.column_values;
      continue;
    end if;
    v_texts := array_fill(null::text, array[v_lower - 1]) || v_texts;
    case v_column.name
      -- fields column: when '{name}' then v_{name} := v_texts;
      when 'env' then v_env := v_texts;
      when 'req_id' then v_req_id := v_texts;
      when 'user_id' then v_user_id := v_texts;
      when 'route' then v_route := v_texts;
      when 'host' then v_host := v_texts;
      when 'record_bytes' then v_record_bytes := v_texts;
      -- fields end
    end case;
  end loop;
  if v_needs_attrs then
    v_texts := logloom_private.attribute_texts(v_records, v_names, v_first, v_last, v_values);
    -- A cast of the array keeps what reading each text takes, until all of them are read.
    v_attrs := array(select unnest(v_texts)::jsonb);
  end if;
  return query
  select
    r.ts, v_batch_received_at[r.batch], v_batch_write_seqs[r.batch], r.id, p_block.tenant_id,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: r.{name}::{type}
    r.level::text, r.msg::text, r.service::text, r.env::text, r.req_id::text, r.user_id::text,
    r.route::text, r.host::text, r.attrs::jsonb, r.record_bytes::integer
    -- fields end
  from unnest(
    -- As many rows as records, whatever of them is read.
    case when v_ts is null then array_fill(1, array[v_records]) end,
    v_ts, v_batches, v_ids,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: v_{name}
    v_level, v_msg, v_service, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes
    -- fields end
  ) with ordinality r (
    one, ts, batch, id,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: {name},
    level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes,
    -- fields end
    n
  )
  order by r.n;
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
    'ingest_text',
    'read_logs',
    'run_writer',
    'settle_alert_notification'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.shape (
  p_rough text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_shape text := p_rough;
begin
  if strpos(v_shape, '<*>') = 0 then
    return v_shape;
  end if;
  -- A look whether there may be any takes a tenth of the time that replacing takes.
  -- Ids: hexadecimal letters around digits, or letters between them.
  if v_shape collate "C" ~ '[a-fA-F]<\*>|<\*>[A-Za-z_<-]' then
    v_shape := regexp_replace(
      v_shape collate "C",
      '(?:\m[a-fA-F]{1,16}-?)?<\*>(?:[A-Za-z_-]{0,16}<\*>)+(?:-?[a-fA-F]{1,16}\M)?'
        || '|\m[a-fA-F]{1,16}<\*>(?:-?[a-fA-F]{1,16}\M)?|<\*>-?[a-fA-F]{1,16}\M|<\*>Z\M',
      '<*>', 'g'
    );
  end if;
  -- Addresses of IPv6, dates with the name of the month, lists of numbers.
  if v_shape collate "C" ~ '<\*>[:,]|[bcglnprtvy][ /-]{1,2}<\*>' then
    v_shape := regexp_replace(
      v_shape collate "C",
      '(?:[a-fA-F]{0,4}:{1,2})*<\*>(?::{1,2}(?:[a-fA-F]{1,4}|<\*>))+'
        || '|(?:<\*>[ /-])?\m(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\M[ /-]{1,2}<\*>'
        || '|<\*>(?:, ?<\*>)+',
      '<*>', 'g'
    );
  end if;
  return v_shape;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stages_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    e.name, e.status, e.message,
    coalesce(
      e.hint,
      'Write count(), rate(), count_distinct(field), or sum, avg, min, max, p50, p95, p99 or '
        'p99.9 of an attribute, min or max of ts; then nothing or: by field, field. Other '
        'stages are where, sort, limit, fields, json, logfmt and patterns.'
    ),
    e.explanation
  from (
    values
    ('stages.bracket_is_missing', 400, 'A bracket is missing after %s', 'Write %2$s', null),
    ('stages.aggregate_is_of_another_language', 400, 'Unknown aggregate %s', 'Write %2$s', null),
    ('stages.stage_is_of_another_language', 400, 'Unknown stage %s', 'Write %2$s', null),
    ('stages.aggregate_needs_a_bar', 400, 'A term is missing before %s',
      'An aggregate follows a bar: %2$s', null),
    ('stages.or_is_a_word', 400, '|| is no operator',
      'Write OR between two terms, in upper case. One | begins a stage, such as | count().', null),
    ('stages.or_joins_values', 400, '| is no operator', 'Write %s', null),
    ('stages.bar_is_missing', 400, 'Nothing may follow %s here: %s', 'Write %3$s', null),
    ('stages.comma_is_missing', 400, 'Nothing may follow %s here: %s',
      'Separate names by commas: service, host. A stage ends at the next | or at the end.', null),
    ('stages.field_is_unknown', 400, 'Unknown field %s', '%2$sThe fields are %3$s.', null),
    ('stages.width_is_a_bracket', 400, 'Unknown field %s',
      'A width of time is written (%2$s): | count() by (%2$s)', null),
    ('stages.aggregate_is_not_closed', 400, 'A closing bracket is missing', null, null),
    ('stages.width_is_not_closed', 400, 'A closing bracket is missing', 'Write by (5m), service.',
      null),
    ('stages.aggregate_is_missing', 400, 'An aggregate is missing after |', null, null),
    ('stages.aggregate_is_unknown', 400, 'Unknown aggregate %s', null, null),
    ('stages.takes_an_attribute', 400, '%s takes an attribute',
      'Write an attribute that holds numbers, such as @duration_ms.', null),
    ('stages.takes_no_field', 400, '%s takes no field',
      'Write %1$s(). count_distinct(user_id) counts different values.', null),
    ('stages.stage_is_unknown', 400, 'Unknown stage %s', null, null),
    ('stages.name_is_missing', 400, 'A name is missing after as',
      'A name is letters, digits and _: count() as n', null),
    ('stages.width_is_missing', 400, 'A width of time is missing after by (',
      'Write by (5m), with s, m, h, d or w.', null),
    ('stages.two_widths', 400, 'by has two widths of time', 'Leave one out.', null),
    ('stages.two_columns_of_one_name', 400, 'Two columns are called %s',
      'Name one of them: p95(@duration_ms) as slow', null),
    ('stages.too_many_aggregates', 400, 'More than 8 aggregates', 'Leave some out.', null),
    ('stages.sort_needs_by', 400, 'by is missing after sort',
      'Write | sort by %s', null),
    ('stages.sort_column_is_missing', 400, 'A name to sort by is missing', 'The columns are %2$s.',
      null),
    ('stages.sort_ts_is_missing', 400, 'A name to sort by is missing',
      'Write sort by ts or sort by ts desc; an aggregate before it makes rows.', null),
    ('stages.sort_column_is_unknown', 400, 'No column to sort by: %s', 'The columns are %2$s.',
      null),
    ('stages.records_are_sorted_by_ts', 400, 'Records are sorted by ts only',
      'Write sort by ts or sort by ts desc; an aggregate before it makes rows.', null),
    ('stages.where_is_empty', 400, 'A comparison is missing after where',
      'After an aggregate where compares %2$s: where %3$s > 10', null),
    ('stages.where_column_is_unknown', 400, 'No number to compare: %s',
      'After an aggregate where compares %2$s: where %3$s > 10', null),
    ('stages.comparison_is_missing', 400, 'A comparison is missing after %s',
      'Write >, >=, <, <=, = or != and a number.', null),
    ('stages.number_is_missing', 400, 'A number is missing after %s',
      'Write a number such as 10, -0.5 or 1e3.', null),
    ('stages.limit_is_out_of_range', 400, 'limit takes a whole number from 1 to 999999',
      'Write limit 10.', null),
    ('stages.any_is_for_filters', 400, 'any is only allowed in a filter',
      'Name a field, such as service or @status.', null),
    ('stages.order_is_wrong', 400, '%s is not allowed after %s',
      'The order is json, logfmt and where, then an aggregate or patterns, then where, sort and '
        'limit; without an aggregate, sort, limit and fields follow where. Each of the last '
        'stands once.', null),
    ('stages.too_many', 400, 'The query has more than 10 stages', 'Join them, or leave some out.',
      null),
    ('stages.takes_a_text', 400, '%s takes a field that holds a text',
      'Write %s msg, or an attribute that holds a text.', null),
    ('stages.something_follows', 400, 'Nothing may follow %s here: %s',
      'A stage ends at the next | or at the end of the query.', null),
    ('stages.aggregate_needs_a_field', 400, '%s needs a field', null, null),
    ('stages.by_needs_a_field', 400, 'A field is missing after by', null, null),
    ('stages.fields_needs_a_field', 400, 'A field is missing after fields',
      'Write fields ts, msg, @status.', null),
    ('stages.needs_a_field', 400, '%s needs a field',
      'Write %s msg, or an attribute that holds a text.', null)
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stats_source (
  p_tenant_id   text,
  p_query       logloom_private.compiled_query,
  p_only_counts boolean,
  p_bucket      bigint
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := p_query.ts_from;
  v_to constant timestamptz := p_query.ts_to;
  v_is_sealed constant boolean := p_bucket is null
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows_from timestamptz;
  v_counted_from timestamptz := p_query.ts_from;
  v_counts_sealed boolean;
  v_rows text;
  v_key constant text := logloom_private.only_number(p_query);
  v_groups logloom_private.counted_source;
begin
  if v_is_sealed then
    v_rows_from := greatest(v_from, coalesce(
      (
        select min(d.day)::timestamp at time zone 'UTC'
        from logloom_private.log_days d
        where d.tenant_id = p_tenant_id
          and d.day between (v_from at time zone 'UTC')::date
            and ((v_to - interval '1 microsecond') at time zone 'UTC')::date
      ),
      v_to
    ));
  end if;
  if p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    p_query.aggregate := 'count';
    v_counts_sealed := v_is_sealed and p_query.by_fields <@ array['level', 'service'];
    -- Over days without rows blocks count quicker than minutes do.
    if v_counts_sealed and v_to - v_from >= interval '1 day' then
      v_counted_from := v_rows_from;
    end if;
    if p_bucket is null or p_bucket % 60 = 0 then
      v_rows := logloom_private.counted_rows_sql(p_tenant_id, p_query, v_counted_from, v_to);
    end if;
    if v_rows is not null and v_from < v_counted_from then
      v_rows := 'from (select l.level, l.service, l.events ' || v_rows || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_counted_from)
        || ') l';
    elsif v_rows is null and v_counts_sealed then
      v_rows := 'from (select l.level, l.service, 1::bigint as events '
        || logloom_private.rows_sql(
          p_tenant_id, v_from, v_to, p_query.filter, array['level', 'service']
        )
        || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_to) || ') l';
    end if;
    if v_rows is not null then
      return (v_rows, 'coalesce(sum(l.events), 0)::double precision', null, false)
        ::logloom_private.counted_source;
    end if;
  end if;
  if v_is_sealed and (
    p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    or v_key is not null
  )
  then
    v_groups := logloom_private.groups_source(p_tenant_id, p_query, v_rows_from, v_key);
    if v_groups.rows_sql is not null then
      return v_groups;
    end if;
  end if;
  -- Counting a column: what is sorted to be grouped has more than the one that it is grouped by,
  -- and of one alone PostgreSQL 17 does not count the memory.
  return (
    logloom_private.staged_sql(p_query, logloom_private.records_sql(
      p_tenant_id, p_query, v_from, v_to,
      case when not p_query.plan ? 'rows' then
        logloom_private.query_reads(p_query.plan)
          || case when p_bucket is null then '{}' else array['ts'] end
      end
    )),
    'count(l.tenant_id)::double precision', null, false
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stats_values_sql (
  p_aggregates jsonb,
  p_source     logloom_private.counted_source,
  p_minutes    numeric
)
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select case
      when a.item ->> 'kind' = 'count' then p_source.count_sql
      when a.item ->> 'kind' = 'rate'
        then p_source.count_sql || format(' / %L::double precision', p_minutes)
      when p_source.has_numbers then logloom_private.numbers_aggregate_sql(a.item)
      else logloom_private.query_aggregate_sql(a.item, 'l')
    end
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    order by a.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.watermark (
  p_oldest_queued timestamp with time zone
)
  RETURNS timestamp WITH time zone
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_writer_started_at timestamptz;
begin
  -- A run that failed left its batches in the queue, so its start is as good as another's.
  -- Nor does it matter who started it: ingest does while pg_cron is away.
  select max(h.last_started_at) into v_writer_started_at
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer') and h.last_started_at <= clock_timestamp();
  if v_writer_started_at is null then
    return null;
  end if;
  return least(p_oldest_queued, v_writer_started_at - logloom_private.enqueue_timeout());
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.write_block (
  p_tenant_id    text,
  p_records      logloom_private.record_arrays,
  p_holds_counts boolean                       DEFAULT false
)
  RETURNS logloom_private.blocks
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  AS $function$
declare
  v_encoded record;
  v_order integer[];
  v_block logloom_private.blocks;
begin
  if p_records.ids is null then
    return null;
  end if;
  v_block.tenant_id := p_tenant_id;
  v_block.holds_counts := p_holds_counts;
  v_block.records := cardinality(p_records.ids);
  -- Assigned: a function after "from" has its result stored first.
  v_encoded := logloom_private.encode_messages(
    v_block, p_records.services, p_records.levels, p_records.messages
  );
  v_order := v_encoded.o_order;
  -- Each record once: compare_block cannot tell.
  if v_block.records <> (
    select count(distinct o.place) from (select unnest(v_order) as place) o
  ) then
    raise sqlstate 'LL001' using message = 'A block has records twice';
  end if;
  -- In their place: records are some ten MB.
  p_records.ts := logloom_private.elements_at(p_records.ts, v_order);
  p_records.received_at := logloom_private.elements_at(p_records.received_at, v_order);
  p_records.write_seqs := logloom_private.elements_at(p_records.write_seqs, v_order);
  p_records.ids := logloom_private.elements_at(p_records.ids, v_order);
  p_records.services := logloom_private.elements_at(p_records.services, v_order);
  p_records.levels := logloom_private.elements_at(p_records.levels, v_order);
  p_records.messages := logloom_private.elements_at(p_records.messages, v_order);
  p_records.attrs := logloom_private.elements_at(p_records.attrs, v_order);
  p_records.columns := array(
    select row(logloom_private.elements_at(c.texts, v_order))::logloom_private.column_values
    from unnest(p_records.columns) with ordinality c (texts, n)
    order by c.n
  );
  v_encoded := logloom_private.encode_block(v_encoded.o_block, p_records);
  v_block := logloom_private.store_block(v_encoded.o_block, v_encoded.o_columns);
  perform logloom_private.compare_block(v_block, p_records);
  return v_block;
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
  if not v_scopes <@ '{ingest, read}' or cardinality(v_scopes) = 0 or array_ndims(v_scopes) <> 1
    or array_position(v_scopes, null) is not null
  then
    perform logloom_private.refuse('api_keys.scope_is_unknown');
  end if;

  perform logloom_private.require_room_for_api_key(p_tenant_id, 1);
  return logloom_private.issue_api_key(v_tenant_id, v_name, p_expires_at, v_scopes);
end;
$function$;

CREATE OR REPLACE FUNCTION public.create_ingest_token (
  p_tenant_id  text    DEFAULT NULL::text,
  p_service    text    DEFAULT NULL::text,
  p_expires_in integer DEFAULT NULL::integer
)
  RETURNS public.logloom_ingest_token
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.issue_ingest_token(
    p_tenant_id, logloom_private.trim_space(p_service), p_expires_in
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."create_ingest_token"(text, text, integer) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.get_log (
  p_id uuid                     DEFAULT NULL::uuid,
  p_ts timestamp with time zone DEFAULT NULL::timestamp WITH time zone
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return logloom_private.read_log(null, p_id, p_ts);
end;
$function$;

CREATE OR REPLACE FUNCTION public.get_log_context (
  p_id     uuid                     DEFAULT NULL::uuid,
  p_ts     timestamp with time zone DEFAULT NULL::timestamp WITH time zone,
  p_before integer                  DEFAULT NULL::integer,
  p_after  integer                  DEFAULT NULL::integer
)
  RETURNS SETOF public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return query
  select r.* from logloom_private.read_log_context(null, p_id, p_ts, p_before, p_after) r;
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
  p_slice           integer                    DEFAULT NULL::integer,
  p_claims          jsonb                      DEFAULT NULL::jsonb,
  p_cut             integer                    DEFAULT NULL::integer,
  p_ts              timestamp with time zone[] DEFAULT NULL::timestamp WITH time zone[],
  p_level           text[]                     DEFAULT NULL::text[],
  p_msg             text[]                     DEFAULT NULL::text[],
  p_service         text[]                     DEFAULT NULL::text[],
  p_env             text[]                     DEFAULT NULL::text[],
  p_req_id          text[]                     DEFAULT NULL::text[],
  p_user_id         text[]                     DEFAULT NULL::text[],
  p_route           text[]                     DEFAULT NULL::text[],
  p_host            text[]                     DEFAULT NULL::text[],
  p_attrs           jsonb[]                    DEFAULT NULL::jsonb[]
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '5s'
  AS $function$
declare
  v_answer constant logloom_private.ingest_answer := logloom_private.ingest(
    row(
      p_tenant_id, p_key_digest, p_idempotency_key, p_body_digest, p_bytes, p_positions,
      p_rejected, p_errors, p_slice, p_claims, p_cut,
      -- fields sent joined: p_{name}
      p_ts, p_level, p_msg, p_service, p_env, p_req_id, p_user_id, p_route, p_host, p_attrs
      -- fields end
    )::logloom_private.ingest_request,
    null
  );
begin
  -- PostgREST wants each header in an object of its own. In JSON text a quote within a value stands
  -- behind a backslash.
  perform set_config(
    'response.headers',
    '[' || replace(v_answer.headers::text, '", "', '"}, {"') || ']',
    true
  );
  return v_answer.body;
end;
$function$;

CREATE OR REPLACE FUNCTION public.ingest_requests (
  p_requests json DEFAULT NULL::json
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '5s'
  AS $function$
begin
  return logloom_private.ingest_each(
    array(select e.value::text from json_array_elements(p_requests) e)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.ingest_text (
  text DEFAULT ''::text
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '5s'
  AS $function$
begin
  return logloom_private.ingest_each(string_to_array($1, e'\x1c'));
end;
$function$;

REVOKE ALL ON FUNCTION "public"."ingest_text"(text) FROM PUBLIC, "anon", "authenticated";

CREATE OR REPLACE FUNCTION public.list_log_fields (
  p_query_dsl text DEFAULT NULL::text,
  p_ts_from   text DEFAULT NULL::text,
  p_ts_to     text DEFAULT NULL::text
)
  RETURNS SETOF public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return query
  select f.field, f.type, f.count, f.values
  from logloom_private.read_log_fields(null, p_query_dsl, p_ts_from, p_ts_to) f;
end;
$function$;

CREATE OR REPLACE FUNCTION public.log_histogram (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_buckets   integer DEFAULT NULL::integer
)
  RETURNS public.logloom_log_histogram
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return logloom_private.read_log_histogram(null, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION public.log_series (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_buckets   integer DEFAULT NULL::integer
)
  RETURNS public.logloom_log_series_answer
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return logloom_private.read_log_series(null, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION public.log_stats (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return query
  select s.*
  from logloom_private.read_log_stats(null, p_query_dsl, p_ts_from, p_ts_to, p_limit) s;
end;
$function$;

CREATE OR REPLACE FUNCTION public.read_logs (
  p_key_digest text  DEFAULT NULL::text,
  p_operation  text  DEFAULT NULL::text,
  p_parameters jsonb DEFAULT NULL::jsonb
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  perform
    logloom_private.require_parameter('p_key_digest', p_key_digest is null),
    logloom_private.require_parameter('p_operation', p_operation is null);
  return logloom_private.read_by_key(p_key_digest, p_operation, coalesce(p_parameters, '{}'));
end;
$function$;

REVOKE ALL ON FUNCTION "public"."read_logs"(text, text, jsonb) FROM PUBLIC, "anon", "authenticated";

CREATE OR REPLACE FUNCTION public.search_logs (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_cursor    text    DEFAULT NULL::text,
  p_order     text    DEFAULT NULL::text
)
  RETURNS public.logloom_log_page
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return logloom_private.read_log_page(
    null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.tail_logs (
  p_query_dsl text    DEFAULT NULL::text,
  p_cursor    text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_backlog   integer DEFAULT NULL::integer
)
  RETURNS public.logloom_log_tail
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return logloom_private.read_log_tail(null, p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$function$;

CREATE OR REPLACE FUNCTION public.validate_query (
  p_query_dsl text DEFAULT NULL::text
)
  RETURNS public.logloom_query_validity
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  return logloom_private.read_query_validity(null, p_query_dsl);
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
        pg_catalog.clock_timestamp(), logloom_private.watermark(
          (logloom_private.queue_state()).oldest_received_at
        )
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
      -- All was evaluated that does not have to be read for itself.
      update logloom_private.alert_rounds r
      set finished_at = pg_catalog.clock_timestamp() where r.singleton;
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

CREATE OR REPLACE PROCEDURE logloom_private.write_logs()
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_limit constant pg_catalog.timestamptz := least(
    v_started_at + (select s.writer_run_limit from logloom_private.settings s),
    logloom_private.job_deadline(v_started_at)
  );
  v_step_events constant pg_catalog.int4 :=
    (select s.writer_step_events from logloom_private.settings s);
  v_events pg_catalog.int4;
  v_since_flip pg_catalog.int4;
  v_flipped pg_catalog.bool := false;
  v_noted_at pg_catalog.timestamptz := v_started_at;
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
      exit when v_events = 0 or pg_catalog.clock_timestamp() > v_limit;
      -- Quotas, health and the watermark of alerts do not wait for the end of a long run: each
      -- second of it is noted as a run.
      if pg_catalog.clock_timestamp() > v_noted_at + '1 second'::pg_catalog.interval then
        begin
          perform logloom_private.meter_queue();
          perform logloom_private.record_job('write_logs', v_noted_at);
        exception when others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        end;
        commit;
        exit when v_error is not null;
        v_noted_at := pg_catalog.clock_timestamp();
      end if;
    end loop;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_limit;
    -- A further flip in this run only where there is more than a step's worth to move.
    exit when v_flipped and v_since_flip < v_step_events;
    if v_flipped then
      begin
        perform logloom_private.empty_moved_slots();
      exception when query_canceled or others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      end;
      commit;
      exit when v_error is not null;
    end if;
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
  perform logloom_private.record_job('write_logs', v_noted_at, v_error);
  commit;
end;
$procedure$;

CREATE INDEX ingest_tokens_expires_at_idx ON logloom_private.ingest_tokens USING btree (expires_at);

CREATE INDEX ingest_tokens_tenant_id_idx ON logloom_private.ingest_tokens USING btree (tenant_id);

COMMENT ON COLUMN "logloom"."plans"."ingest_tokens_per_minute" IS 'Ingest tokens that may be made for a tenant in a minute.';

COMMENT ON COLUMN "logloom"."plans"."max_ingest_tokens" IS 'Ingest tokens of a tenant that may be alive at once; a further one is PT429.';

COMMENT ON COLUMN "logloom_private"."ingest_tokens"."created_by" IS 'The user, without whom the token ends. Null: the project itself, by its secret key.';

COMMENT ON COLUMN "logloom_private"."ingest_tokens"."session_id" IS 'The user''s session of Supabase Auth, with which the token ends. Null where there is none.';

COMMENT ON COLUMN "logloom_private"."ingest_tokens"."token_digest" IS 'SHA-256 of the whole token.';

COMMENT ON COLUMN "logloom_private"."settings"."ingest_token_lifetime" IS 'How long an ingest token lives at most; 15 minutes where this is longer.';

COMMENT ON COLUMN "logloom_private"."settings"."provision_by_secret_key" IS 'Whether a request with the project''s secret key makes the tenants that it names.';

COMMENT ON COLUMN "logloom_private"."settings"."search_page_time" IS 'After this time search_logs begins no further part of its range: the page ends early.';

COMMENT ON COLUMN "logloom_private"."settings"."search_stage_templates" IS 'Templates of messages in blocks that the stage patterns counts, and of a block more.';

COMMENT ON COLUMN "logloom_private"."settings"."tail_page_time" IS 'After this time tail_logs answers with what it has.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_run_budget" IS 'A call of run_writer starts no further step after this time.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_run_limit" IS 'A run of the writer starts no further step after this time.';

COMMENT ON FUNCTION "public"."create_api_key"(text, text, timestamp with time zone, text[]) IS 'Creates an API key and returns it with key_value, this once. p_name: 1 to 100 characters after trimming. p_expires_at: none by default. p_scopes: ingest (the default), read, or both. Errors: PT400 (plan limit, too), PT401, PT403.';

COMMENT ON FUNCTION "public"."create_ingest_token"(text, text, integer) IS 'Creates a token with which a page sends events of one service, and returns it, this once. It ends by itself, and with the user who made it. p_service: 1 to 200 characters after trimming. p_expires_in: seconds, by default the most, settings.ingest_token_lifetime (900). Errors: PT400, PT401, PT403, PT429 (limits of the plan).';

COMMENT ON FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, integer, jsonb, integer, timestamp
  with time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[]) IS 'What the edge function ingest calls, once a request. The caller is p_key_digest (hex SHA-256 of an API key), or who p_claims (of a token whose signature was verified) name, or p_tenant_id. Events are parallel arrays; p_ts is of full length, null where missing; without p_ts the call only authenticates and tells the limits. p_positions: index in the request of each event, null when nothing was rejected before; p_rejected, p_errors: what was. p_slice: number, from 0, of this part of a request that is committed in several calls with one idempotency key. p_cut: events of which a part was cut off, since the record would be larger than max_record_bytes or max_record_values allow. Returns the answer to the client {success, ingested, rejected, cut, errors}. Errors: PT401, PT404, PT409, PT413, PT429, PT503; statement_timeout is the enqueue timeout of the watermark.';

COMMENT ON FUNCTION "public"."ingest_requests"(json) IS 'ingest_text for edge functions of 1.0.0: ingest_logs for several small requests that came at once: one transaction, one commit. p_requests: array of objects, each with the parameters of ingest_logs. Returns an array in the same order, each {status, headers: {name: value}, body: text}, as ingest_logs alone would have answered; body is JSON text, of an error {code, message, hint}. What refuses one request does not touch the others. statement_timeout is the enqueue timeout of the watermark, as there.';

COMMENT ON FUNCTION "public"."ingest_text"(text) IS 'What the edge function ingest calls: ingest_logs for one or more requests of a caller, in one transaction, with one commit. The body is plain text: the requests with file separators (U+001C) between them. A request is the JSON of ingest_logs'' parameters, or of all but the columns and then these, as logloom_private.request_of_text splits them. Returns an array in the same order, each {status, headers: {name: value}, body: text}, as ingest_logs alone would have answered; body is JSON text, of an error {code, message}. What refuses one request does not touch the others. statement_timeout is the enqueue timeout of the watermark, as there.';

COMMENT ON FUNCTION "public"."read_logs"(text, text, jsonb) IS 'For the function logloom-read: what an operation answers to an API key with the scope read, of which p_key_digest is the SHA-256 as hex. p_parameters: those of the operation by name. Errors: PT400, PT401, PT403, PT404, PT408, PT429.';

COMMENT ON TABLE "logloom_private"."ingest_tokens" IS 'Tokens with which pages send. The token itself is never stored.';

COMMENT ON TYPE "logloom_private"."counted_source" IS 'Where an aggregate reads: SQL from "from" on with the alias l, and what count() is over it. keys_sql: what it is grouped by, where this is not by_sql of the query. has_numbers: it has numbers, total, minimum and maximum, and double in place of the attribute.';

COMMENT ON TYPE "logloom_private"."ingest_state" IS 'Who sends, and what holds for it: read once a call, for all requests of a caller in it. keeps_from, takes_to: in which range ts may lie. events, bytes: what is known to be used of the month, all of it where a limit is near. batches: how many at most the queue has that are not counted there. headers: what every answer to ingest has: X-Logloom-Writer where pg_cron does not run the writer. service: the only one that the sender may send for; null: any.';

COMMENT ON TYPE "logloom_private"."reading_scope" IS 'What a reader may see: records of tenant_id, by operations (null: all that read).';

COMMENT ON TYPE "public"."logloom_ingest_token" IS 'A new ingest token, which sends for one service. It is shown this once.';

GRANT EXECUTE ON FUNCTION "logloom_private"."ingest"(logloom_private.ingest_request, logloom_private.ingest_state) TO "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."ingest_each"(text[]) TO "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."issue_ingest_token"(text, text, integer) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."new_api_key"(text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_by_key"(text, text, jsonb) TO "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log"(logloom_private.reading_scope, uuid, timestamp WITH time zone) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_context"(logloom_private.reading_scope, uuid, timestamp WITH time zone, integer, integer) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_fields"(logloom_private.reading_scope, text, text, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_histogram"(logloom_private.reading_scope, text, text, text, integer) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_page"(logloom_private.reading_scope, text, text, text, integer, text, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_series"(logloom_private.reading_scope, text, text, text, integer) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_stats"(logloom_private.reading_scope, text, text, text, integer) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_tail"(logloom_private.reading_scope, text, text, integer, integer) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_query_validity"(logloom_private.reading_scope, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."reading_errors"() TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."create_ingest_token"(text, text, integer) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."ingest_text"(text) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."read_logs"(text, text, jsonb) TO "service_role";

select logloom_private.finish_migration();
