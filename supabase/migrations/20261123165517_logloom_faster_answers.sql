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

DROP FUNCTION "logloom_private"."ingest_each"(json);

DROP FUNCTION "logloom_private"."log_fields_sample"(text, logloom_private.compiled_query);

DROP FUNCTION "logloom_private"."query_field"(text, integer);

DROP FUNCTION "logloom_private"."query_parse_aggregate"(logloom_private.query_state);

DROP FUNCTION "logloom_private"."watermark"(timestamp WITH time zone);

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
declare
  v_last_used_at timestamptz;
begin
  if p_key_digest is not null then
    select k.tenant_id, k.key_id, k.last_used_at
    into authenticate_sender.tenant_id, authenticate_sender.key_id, v_last_used_at
    from logloom.api_keys k
    where k.key_digest = decode(p_key_digest, 'hex')
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())
      and k.scopes @> '{ingest}';
  else
    authenticate_sender.tenant_id := case
      when p_claims is not null then logloom_private.current_tenant_id(p_claims)
      when not logloom_private.is_being_deleted(p_tenant_id)
        then logloom_private.usable_id(p_tenant_id)
    end;
  end if;
  if authenticate_sender.tenant_id is null then
    -- Only who has the whole key learns what has become of it.
    perform logloom_private.refuse(coalesce(
      (
        select case when k.revoked_at is null then 'callers.key_is_expired'
          else 'callers.key_is_revoked' end
        from logloom.api_keys k
        where k.key_digest = decode(p_key_digest, 'hex')
      ),
      case when p_key_digest is null then 'callers.not_known' else 'callers.key_is_unknown' end
    ));
  elsif p_key_digest is null then
    perform logloom_private.require_writing_client(p_claims);
  elsif v_last_used_at >= date_trunc('minute', now()) is not true then
    -- Skips a locked row: whoever holds it must not hold up ingest, and another request will do.
    update logloom.api_keys k
    set last_used_at = now()
    where k.key_id = (
      select u.key_id
      from logloom.api_keys u
      where u.key_id = authenticate_sender.key_id
      for no key update skip locked
    );
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
      (r.before + sum(t.records) over (
        partition by r.n order by t.n rows unbounded preceding
      ) - t.records)::integer as before
    from runs r
    cross join lateral unnest(
      string_to_array(r.texts, p_block.separator),
      v_template_records[r.templates_before + 1:r.templates_before + r.templates]
    ) with ordinality t (template, records, n)
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
      'No such API key: perhaps it is one of another project.', null),
    ('callers.key_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key was revoked: create_api_key makes another.', null),
    ('callers.key_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key has expired: rotate_api_key or create_api_key makes another.', null),
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

CREATE OR REPLACE FUNCTION logloom_private.grouped_codes (
  p_block   logloom_private.blocks,
  p_columns logloom_private.block_columns[],
  p_by_run  boolean,
  p_bits    bit varying
)
  RETURNS TABLE (
    run    integer,
    codes  integer[],
    events bigint
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  SET work_mem TO '16MB'
  AS $function$
declare
  v_is_all constant boolean := bit_count(p_bits) = p_block.records;
  v_names constant text[] := array(
    select 'c' || n from generate_series(1, cardinality(p_columns)) n
  );
begin
  return query execute format(
    $query$
      select %1$s, array[%2$s]::integer[], count(*)
      from (
        select %3$s%4$s
      ) u
      %5$s
      group by 1, %2$s
    $query$,
    case when p_by_run then 'u.run' else 'null::integer' end,
    array_to_string(array(select 'u.' || n from unnest(v_names) n), ', '),
    array_to_string(
      array(
        select format(
          'unnest(array_fill(null::integer, array[($1[%1$s]).first - 1]) || %2$s '
            || '|| array_fill(null::integer, array[$2 - ($1[%1$s]).last])) as c%1$s',
          n,
          case
            when p_columns[n].codes is not null
              then format('array(select unnest(($1[%s]).codes)::integer + 129)', n)
            when p_columns[n].wide_codes is not null
              then format('($1[%s]).wide_codes::integer[]', n)
            else format(
              'array_fill(1, array[($1[%1$s]).last - ($1[%1$s]).first + 1])', n
            )
          end
        )
        from generate_series(1, cardinality(p_columns)) n
      ),
      ', '
    ),
    case when p_by_run then
      ', unnest(array(select r.n::integer from unnest($4) with ordinality r (records, n), '
        || 'generate_series(1, r.records) order by r.n)) as run'
      else '' end
      || case when v_is_all then '' else ', generate_series(0, $2 - 1) as n' end,
    case when v_is_all then '' else 'where get_bit($3, u.n) = 1' end
  )
  using p_columns, p_block.records, p_bits, p_block.run_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.groups_source (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_rows_from timestamp with time zone
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_by constant jsonb := p_query.plan -> 'by';
  v_fields constant text[] := array(
    select distinct f ->> 'field' from jsonb_array_elements(v_by) f order by 1
  );
  v_keys constant text[] := array(
    select distinct concat_ws('.', f ->> 'field', f -> 'path' ->> 0)
    from jsonb_array_elements(v_by) f
    order by 1
  );
  v_attributes constant text := (
    select string_agg(
      format('jsonb_build_object(%L::text, g.keys[%s]::jsonb)', substr(k.name, 7), k.n), ' || '
    )
    from unnest(v_keys) with ordinality k (name, n)
    where k.name like 'attrs.%'
  );
  v_sql text;
begin
  if jsonb_path_exists(v_by, '$[*] ? (@.path.size() > 1)')
    or not v_fields <@ (logloom_private.column_fields() || array['attrs', 'level', 'service'])
  then
    return null;
  end if;
  v_sql := 'select ' || (
    select string_agg(
      case f.name when 'attrs' then v_attributes || ' as attrs'
        else format('g.keys[%s] as %I', array_position(v_keys, f.name), f.name) end,
      ', ' order by f.n
    )
    from unnest(v_fields) with ordinality f (name, n)
  ) || ', g.events from (select s.keys, sum(s.events) as events '
    || 'from logloom_private.sealed_groups(' || format(
      '%s, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      p_query.ts_from, p_query.ts_to, p_query.tree, v_keys
    ) || ') s group by s.keys) g';
  if p_rows_from < p_query.ts_to then
    v_sql := v_sql || ' union all select l.' || array_to_string(v_fields, ', l.') || ', 1 '
      || logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter, v_keys
      );
  end if;
  return (
    'from (' || v_sql || ') l', 'coalesce(sum(l.events), 0)::double precision', null, null
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state   DEFAULT NULL::logloom_private.ingest_state
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
  if p_state.keeps_from > any (p_request.p_ts) or p_state.takes_to < any (p_request.p_ts) then
    p_request := logloom_private.reject_events_out_of_range(p_request, p_state);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
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
      'A request with the project''s secret key names a tenant that there is not.'),
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
  v_time constant text := 'to_char(p.%s, ''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')';
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
      || ', array(select c.place from chosen c where c.example is null and c.place is not null)'
      || ') m) '
    || 'select jsonb_build_object(''pattern'', p.pattern), p.count, jsonb_build_object('
      || '''count'', p.count, ''first'', ' || format(v_time, 'first') || ', ''last'', '
      || format(v_time, 'last') || ', ''example'', coalesce(p.example, left(m.msg, 1000))), '
      || 'p.total, case when exists (select from found f where f.is_cut) '
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
    ('query.aggregate_needs_a_bar', 400, 'A term is missing before %s',
      'An aggregate follows a bar: %2$s', null),
    ('query.or_is_a_word', 400, '|| is no operator',
      'Write OR between two terms, in upper case. One | begins a stage, such as | count().', null),
    ('query.bracket_is_of_another_language', 400, '%s is only allowed in a range of a field',
      'Write %2$s', null),
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
        p_state.positions[p_state."at" + 1], 'query.aggregate_needs_a_bar', ')',
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
      when '[' then logloom_private.query_meant_words(p_state.texts, p_state."at" - 2) end;
    if v_meant is not null then
      perform logloom_private.refuse_at(
        v_position, 'query.bracket_is_of_another_language', v_token, v_meant
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
  v_read logloom_private.query_state;
begin
  while p_state.texts[p_state."at"] = '|' loop
    v_bar := p_state."at";
    if p_state.texts[v_bar + 1] = '|' and logloom_private.query_is_adjacent(p_state, v_bar + 1) then
      perform logloom_private.refuse_at(p_state.positions[v_bar + 1], 'query.or_is_a_word');
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

CREATE OR REPLACE FUNCTION logloom_private.read_log_fields (
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
  v_tenant_id constant text := logloom_private.resolve_tenant();
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
  return query select r.* from logloom_private.read_log_fields(p_query_dsl, p_ts_from, p_ts_to) r;
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
    || 'count(*) as count, min(r.ts) as first, max(r.ts) as last, '
    || 'min(left(r.msg, 1000) collate "C") as example, null::bigint[] as place, '
    || 'sum(count(*)) over () > ' || p_records || ' as is_cut from (select l.ts, l.msg '
    || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
    || ') r group by 1'
    || case when v_is_counted then ' union all select '
      || logloom_private.rough_shape_sql('t.template')
      || ', t.count, t.first, t.last, null, t.place, t.is_cut '
      || 'from (select s.template, sum(s.events) as count, min(s.first_ts) as first, '
      || 'max(s.last_ts) as last, min(s.place) as place, '
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

CREATE OR REPLACE FUNCTION logloom_private.sealed_groups (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_by        text[]
)
  RETURNS TABLE (
    keys   text[],
    events bigint
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_names constant text[] := array(
    select b.name
    from unnest(p_by) with ordinality b (name, n)
    where b.name not in ('service', 'level')
    order by b.name
  );
  v_by_run constant boolean := p_by && array['service', 'level'];
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_counted bigint[] := '{}';
  v_codes text;
  v_texts text;
  v_block logloom_private.blocks;
  v_columns logloom_private.block_columns[];
  v_bits varbit;
  v_count bigint;
begin
  if p_tree ->> 'type' = 'all' and cardinality(p_by) = 1 and not v_by_run then
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
    )
    select array[c.value], c.events from counted c
    union all
    select array[null], r.records - coalesce((select sum(c.events) from counted c), 0)::bigint
    from (
      select sum(b.records)::bigint as records
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.block_id = any(v_counted)
    ) r
    where r.records > coalesce((select sum(c.events) from counted c), 0);
  end if;
  select
    string_agg(
      case
        when b.name in ('service', 'level') then format('($1).run_%ss[g.run]', b.name)
        else format('($2[%1$s]).dictionary[g.codes[%1$s]]', array_position(v_names, b.name))
      end,
      ', ' order by b.n
    ),
    string_agg(
      case when b.name like 'attrs.%' then format('(g.attrs -> %L)::text', substr(b.name, 7))
        else format('g.%I', b.name) end,
      ', ' order by b.n
    )
  into v_codes, v_texts
  from unnest(p_by) with ordinality b (name, n);
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks) and c.block_id <> all(v_counted)
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    v_count := bit_count(v_bits);
    continue when v_count = 0;
    select array_agg(k order by k.name)
    into v_columns
    from logloom_private.block_columns k
    where k.tenant_id = p_tenant_id and k.block_id = v_block.block_id and k.name = any(v_names)
      and k.kind = 'dictionary';
    if coalesce(cardinality(v_columns), 0) < cardinality(v_names)
      or v_count * 8 < v_block.records
    then
      return query execute format(
        'select array[%s], count(*) from logloom_private.sealed_records($1, $2, $3) g group by 1',
        v_texts
      )
      using v_block, case when v_count < v_block.records
        then logloom_private.bit_positions(v_bits) end, p_by;
    else
      return query execute format(
        'select array[%s], g.events from logloom_private.grouped_codes($1, $2, $3, $4) g', v_codes
      )
      using v_block, v_columns, v_by_run, v_bits;
    end if;
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
    first_ts timestamp with time zone,
    last_ts  timestamp with time zone,
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
  v_times timestamptz[];
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
    v_times := logloom_private.block_times(v_block, v_first || v_last);
    return query
    select
      u.template, u.events::bigint, u.first, u.last,
      array[(extract(epoch from u.first) * 1000000)::bigint, v_block.block_id, u.position]
    from unnest(
      v_templates, v_events, v_times[:cardinality(v_first)], v_times[cardinality(v_first) + 1:],
      v_first
    ) u (template, events, first, last, position);
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
    'run_writer',
    'settle_alert_notification'
  ];
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
  v_key text;
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
      return (v_rows, 'coalesce(sum(l.events), 0)::double precision', null, null)
        ::logloom_private.counted_source;
    elsif v_is_sealed then
      v_groups := logloom_private.groups_source(p_tenant_id, p_query, v_rows_from);
      if v_groups.rows_sql is not null then
        return v_groups;
      end if;
    end if;
  end if;
  v_key := logloom_private.only_number(p_query);
  if v_is_sealed and v_key is not null then
    return logloom_private.numbers_source(p_tenant_id, p_query, v_rows_from, v_key);
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
    'count(l.tenant_id)::double precision', null, null
  )::logloom_private.counted_source;
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

COMMENT ON COLUMN "logloom_private"."settings"."provision_by_secret_key" IS 'Whether a request with the project''s secret key makes the tenants that it names.';

COMMENT ON COLUMN "logloom_private"."settings"."search_page_time" IS 'After this time search_logs begins no further part of its range: the page ends early.';

COMMENT ON COLUMN "logloom_private"."settings"."search_stage_templates" IS 'Templates of messages in blocks that the stage patterns counts, and of a block more.';

COMMENT ON COLUMN "logloom_private"."settings"."tail_page_time" IS 'After this time tail_logs answers with what it has.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_run_budget" IS 'A call of run_writer starts no further step after this time.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_run_limit" IS 'A run of the writer starts no further step after this time.';

COMMENT ON FUNCTION "public"."ingest_requests"(json) IS 'ingest_text for edge functions of 1.0.0: ingest_logs for several small requests that came at once: one transaction, one commit. p_requests: array of objects, each with the parameters of ingest_logs. Returns an array in the same order, each {status, headers: {name: value}, body: text}, as ingest_logs alone would have answered; body is JSON text, of an error {code, message, hint}. What refuses one request does not touch the others. statement_timeout is the enqueue timeout of the watermark, as there.';

COMMENT ON FUNCTION "public"."ingest_text"(text) IS 'What the edge function ingest calls: ingest_logs for one or more requests of a caller, in one transaction, with one commit. The body is plain text: the requests with file separators (U+001C) between them. A request is the JSON of ingest_logs'' parameters, or of all but the columns and then these, as logloom_private.request_of_text splits them. Returns an array in the same order, each {status, headers: {name: value}, body: text}, as ingest_logs alone would have answered; body is JSON text, of an error {code, message}. What refuses one request does not touch the others. statement_timeout is the enqueue timeout of the watermark, as there.';

GRANT EXECUTE ON FUNCTION "logloom_private"."ingest_each"(text[]) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."ingest_text"(text) TO "service_role";

select logloom_private.finish_migration();
