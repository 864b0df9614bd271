-- What a project may have of its own: a time zone, roles, a search_path. Days of logs are UTC's, and so
-- are the times in answers and those in parameters that name no zone. What is written like an IPv6
-- address is one only as RFC 4291 has it. Of sealed days: numbers have no members, letter case,
-- unsealing beside an erasure, the bytes of packed days.

select logloom_private.hold_writers();

SET local check_function_bodies = off;

REVOKE ALL ON FUNCTION "logloom_private"."call_host_pre_request"() FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."call_host_pre_request"() FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."call_host_pre_request"() FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."callers_errors"() FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."callers_errors"() FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."callers_errors"() FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."check_operation"(text) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."check_operation"(text) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."check_operation"(text) FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."check_request"() FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."check_request"() FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."check_request"() FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."error_named"(text, text[]) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."error_named"(text, text[]) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."error_named"(text, text[]) FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."errors"(text) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."errors"(text) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."errors"(text) FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."operations"() FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."operations"() FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."operations"() FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."refuse"(text, text[]) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."refuse"(text, text[]) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."refuse"(text, text[]) FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."requested_operation"(text, text) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."requested_operation"(text, text) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."requested_operation"(text, text) FROM "service_role";

REVOKE ALL ON SCHEMA "logloom_private" FROM "anon";

REVOKE ALL ON SCHEMA "logloom_private" FROM "authenticated";

REVOKE ALL ON SCHEMA "logloom_private" FROM "service_role";

REVOKE ALL ON SCHEMA "logloom_private" FROM "supabase_auth_admin";

CREATE OR REPLACE FUNCTION logloom_private.address_in (
  p_text    text,
  p_network inet
)
  RETURNS boolean
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO ''
  AS $function$
declare
  v_address text;
begin
  if octet_length(p_text) > 45 then
    return false;
  end if;
  v_address := coalesce(
    substring(
      p_text collate "C"
      from '^((?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3})(?::[0-9]{1,5})?$'
    ),
    -- PostgreSQL reads more than the notation allows, as ::1: or ::1..2.
    substring(
      p_text collate "C"
      from '^[0-9a-fA-F:]*(?:::|:[0-9a-fA-F]{1,4}|:[0-9]{1,3}(?:\.[0-9]{1,3}){3})$'
    )
  );
  return pg_input_is_valid(v_address, 'inet') and v_address::inet <<= p_network;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.adopt_partitions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_partition record;
begin
  for v_partition in
    select
      c.relname as name,
      logloom_private.partition_name(
        substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''(\d+-\d\d-\d\d)')::date
      ) as day_name
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
  loop
    if v_partition.name <> v_partition.day_name then
      execute format('alter table logloom.%I rename to %I', v_partition.name, v_partition.day_name);
      execute format('alter table logloom.%I enable row level security', v_partition.day_name);
      execute format('alter table logloom.%I force row level security', v_partition.day_name);
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.align_partitions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_unaligned text[] := logloom_private.unaligned_partitions();
  v_lock_wait text;
  v_name text;
  v_day date;
begin
  if cardinality(v_unaligned) = 0 then
    return;
  end if;
  v_lock_wait := logloom_private.limit_lock_wait(
    (select s.partition_drop_lock_timeout from logloom_private.settings s)
  );
  -- In the order in which the jobs take them.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform logloom_private.lock_partitions();
  v_unaligned := logloom_private.unaligned_partitions();
  -- All of them first: a day overlaps two that are beside it.
  foreach v_name in array v_unaligned loop
    execute format('alter table logloom.logs detach partition logloom.%I', v_name);
    execute format('alter table logloom.%I rename to %I', v_name, v_name || '_unaligned');
  end loop;
  foreach v_name in array v_unaligned loop
    for v_day in execute format(
      'select distinct logloom_private.utc_day(l.ts) from logloom.%I l', v_name || '_unaligned'
    )
    loop
      perform logloom_private.create_partition(v_day);
      execute format(
        'insert into logloom.%I select l.* from logloom.%I l '
          || 'where l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
        logloom_private.partition_name(v_day), v_name || '_unaligned',
        v_day::timestamp at time zone 'UTC', (v_day + 1)::timestamp at time zone 'UTC'
      );
    end loop;
    execute format('drop table logloom.%I', v_name || '_unaligned');
  end loop;
  -- pg_partman goes on from the newest.
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, (select s.partition_days_ahead from logloom_private.settings s)) i;
  perform logloom_private.restore_lock_wait(v_lock_wait);
exception when lock_not_available then
  raise warning 'Partitions are not aligned yet: readers or the writer hold them.';
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
  -- Prefer, may have a time zone.
  perform set_config('extra_float_digits', '1', true), set_config('timezone', 'UTC', true);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_request()
  RETURNS void
  LANGUAGE plpgsql
  AS $function$
declare
  -- The project's own may set another.
  v_search_path constant text := pg_catalog.current_setting('search_path');
begin
  perform logloom_private.call_host_pre_request();
  perform logloom_private.check_operation(v_search_path);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunks_to_merge (
  p_tenant_id text,
  p_day       date
)
  RETURNS bigint[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
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
      sum(c.bytes) over (partition by c.key order by c.first_ts, c.chunk_id) as bytes
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
    and m.bytes <= v_settings.seal_chunk_bytes / 8
  group by m.key
  having count(*) > 1
  limit 1;
  return v_chunk_ids;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_bits (
  p_column  logloom_private.sealed_columns,
  p_leaf    jsonb,
  p_records integer
)
  RETURNS bit varying
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_field constant text := p_leaf ->> 'field';
  v_key constant text := substr(p_column.name, 7);
  v_test constant text := logloom_private.query_sql(p_leaf, 'l');
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_numbers integer[] := p_column.numbers;
  v_lower numeric;
  v_upper numeric;
  v_absent boolean;
  v_fill text;
  v_flags text;
  v_each text[];
  v_bits text;
begin
  -- What a dictionary of a field does not hold, no record has, unless letter case is ignored.
  if p_column.kind = 'dictionary' and p_leaf ->> 'test' = 'equal' and v_field <> 'attrs'
    and not p_leaf ? 'fold' and not p_column.dictionary && array(
      select v from jsonb_array_elements_text(p_leaf -> 'values') v
    )
  then
    return logloom_private.no_bits(p_records);
  end if;
  -- One thing among many, a request above all: where it stands, not a test of each value.
  if p_column.kind <> 'dictionary' and p_leaf ->> 'test' = 'equal' and v_field <> 'attrs'
    and p_leaf - array['type', 'field', 'name', 'test', 'values', 'size', 'position'] = '{}'
  then
    v_each := logloom_private.column_texts(p_column, null);
    return logloom_private.position_bits(
      array(
        select distinct p_column.first - 1 + p.position
        from jsonb_array_elements_text(p_leaf -> 'values') v (value)
        cross join lateral unnest(array_positions(v_each, v.value)) p (position)
        order by 1
      ),
      p_records
    );
  end if;
  v_absent := logloom_private.tested_values(v_test, v_field, v_key, array[null::text]) = '1';
  v_fill := case when v_absent then '1' else '0' end;
  if p_column.kind = 'dictionary' then
    v_flags := logloom_private.tested_values(v_test, v_field, v_key, p_column.dictionary);
    if v_codes is null and v_wide_codes is null then
      v_bits := repeat(v_flags, p_column.last - p_column.first + 1);
    elsif not v_absent and strpos(v_flags, '1') = 0 then
      return logloom_private.no_bits(p_records);
    elsif v_codes is not null then
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code::integer + 129], v_fill), '' order by c.n)
      into v_bits
      from unnest(v_codes) with ordinality c (code, n);
    else
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code], v_fill), '' order by c.n) into v_bits
      from unnest(v_wide_codes) with ordinality c (code, n);
    end if;
  elsif p_column.kind = 'numbers' and p_leaf ->> 'test' = 'range' and v_field = 'attrs'
    -- A path that goes on within the value finds nothing in a number.
    and (jsonb_array_length(p_leaf -> 'path') = 1 or v_key = p_leaf ->> 'joined')
  then
    -- Beyond what the column holds a bound decides nothing.
    v_lower := p_leaf ->> 'lower';
    v_upper := p_leaf ->> 'upper';
    if v_lower > p_column.greatest or v_upper < p_column.least then
      return logloom_private.no_bits(p_records);
    end if;
    v_lower := case
      when v_lower is null then p_column.least
      when (p_leaf ->> 'lower_open')::boolean then greatest(floor(v_lower) + 1, p_column.least)
      else greatest(ceil(v_lower), p_column.least)
    end;
    v_upper := case
      when v_upper is null then p_column.greatest
      when (p_leaf ->> 'upper_open')::boolean then least(ceil(v_upper) - 1, p_column.greatest)
      else least(floor(v_upper), p_column.greatest)
    end;
    if v_numbers is not null then
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(v_numbers) with ordinality c (v, n);
    else
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(p_column.wide_numbers) with ordinality c (v, n);
    end if;
  else
    v_bits := logloom_private.tested_values(
      v_test, v_field, v_key, logloom_private.column_texts(p_column, null)
    );
  end if;
  return logloom_private.widen_bits(v_bits, p_column.first, p_records, v_absent);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.forget_day (
  p_day date
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
begin
  -- Tenant by tenant, as the index leads with it.
  delete from logloom_private.log_counts c
  using logloom_private.log_days d
  where d.day = p_day
    and c.tenant_id = d.tenant_id
    and c.minute >= v_from
    and c.minute < v_from + interval '24 hours';
  with unpacked as (
    delete from logloom_private.packed_counts p
    where p.week = logloom_private.week_of(p_day)
    returning p as packed
  )
  insert into logloom_private.packed_counts
  select p.*
  from unpacked u
  cross join lateral logloom_private.packed_week(
    (u.packed).tenant_id, (u.packed).week,
    array(
      select c
      from logloom_private.unpacked_counts(u.packed) c
      where c.minute < v_from or c.minute >= v_from + interval '24 hours'
    )
  ) p
  where p.minutes is not null;
  delete from logloom_private.log_days d where d.day = p_day;
  delete from logloom_private.log_arrivals a where a.day = p_day;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.hot_bytes (
  p_tenant_id text
)
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_counted constant integer := (select s.stored_days_counted from logloom_private.settings s);
  v_days date[];
  v_records numeric[];
  v_packed_days date[] := '{}';
  v_packed_events bigint[] := '{}';
  v_all_days bigint;
  v_bytes numeric;
begin
  -- Nothing is packed of records that are spread over nodes.
  if not logloom_private.is_spread() then
    select array_agg(p.day), array_agg(p.events)
    into v_packed_days, v_packed_events
    from (
      select w.week + c.minute / 1440 as day, sum(c.events) as events
      from logloom_private.packed_counts w
      cross join lateral unnest(w.minutes, w.events) c (minute, events)
      where w.tenant_id = p_tenant_id
        and w.week >= (
          select logloom_private.week_of(min(n.day))
          from (
            select u.day
            from logloom_private.log_days u
            where u.tenant_id = p_tenant_id
            order by u.day desc
            limit v_counted
          ) n
        )
      group by 1
    ) p;
  end if;
  -- What is known of the days first: records and partitions may be on other nodes than the catalog.
  select array_agg(d.day order by d.day), array_agg(d.records order by d.day)
  into v_days, v_records
  from (
    select
      u.day,
      greatest(
        (
          select coalesce(sum(c.events), 0)
          from logloom_private.log_counts c
          where c.tenant_id = p_tenant_id
            and c.minute >= logloom_private.day_start(u.day)
            and c.minute < logloom_private.day_start(u.day + 1)
        ) + coalesce(v_packed_events[array_position(v_packed_days, u.day)], 0) - (
          -- Of the days that a chunk spans each has its part.
          select coalesce(
            sum(
              c.records / (
                1 + logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts)
              )
            ),
            0
          )
          from logloom_private.sealed_chunks c
          where c.tenant_id = p_tenant_id
            and c.last_ts >= logloom_private.day_start(u.day)
            and c.first_ts < logloom_private.day_start(u.day + 1)
        ),
        0
      ) as records
    from logloom_private.log_days u
    where u.tenant_id = p_tenant_id
    order by u.day desc
    limit v_counted
  ) d;
  select count(*) into v_all_days from logloom_private.log_days d where d.tenant_id = p_tenant_id;
  select sum(x.bytes) * v_all_days / nullif(count(*), 0)
  into v_bytes
  from (
    select
      pg_total_relation_size(p.oid) * d.records / greatest(
        d.records, pg_stat_get_live_tuples(p.oid), p.reltuples, 1
      )::numeric as bytes
    from unnest(v_days, v_records) d (day, records)
    join pg_catalog.pg_class p
      on p.oid = to_regclass(format('logloom.%I', logloom_private.partition_name(d.day)))
  ) x;
  return coalesce(round(v_bytes), 0);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.maintain_partitions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_days_ahead constant integer := (select s.partition_days_ahead from logloom_private.settings s);
begin
  -- Before the lock on partitions, for it waits for the writer.
  perform logloom_private.align_partitions();
  perform logloom_private.lock_partitions();
  update partman.part_config c
  set premake = v_days_ahead
  where c.parent_table = 'logloom.logs' and c.premake <> v_days_ahead;
  -- Leaves the search_path of the session changed: nothing else belongs in the session of the job.
  perform partman.run_maintenance('logloom.logs');
  perform logloom_private.adopt_partitions();
  -- pg_partman extends the newest partition; a day that went missing it does not bring back.
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, v_days_ahead) i;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.manage_partitions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
begin
  if not exists (
    select from partman.part_config c where c.parent_table = 'logloom.logs'
  ) then
    -- No default partition: a row in it would stop maintenance, and its check would wait for
    -- readers.
    perform partman.create_parent(
      p_parent_table := 'logloom.logs',
      p_control := 'ts',
      p_interval := '1 day',
      p_premake := (select s.partition_days_ahead from logloom_private.settings s),
      -- After the days that a restored table has; null where it has none.
      p_start_partition := (
        select (max(d.day) + 1)::text from unnest(logloom_private.partition_days()) d (day)
      ),
      p_default_table := false
    );
  end if;
  update partman.part_config
  set infinite_time_partitions = true
  where parent_table = 'logloom.logs';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_network (
  p_token    text,
  p_position integer
)
  RETURNS inet
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  if left(p_token, 1) = '"' then
    return null;
  elsif p_token ~ '^[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}$' then
    if not pg_input_is_valid(p_token, 'inet') or p_token ~ '(?:^|\.)0[0-9]' then
      perform logloom_private.refuse_at(
        p_position, 'query.not_a_network', logloom_private.query_excerpt(p_token)
      );
    end if;
    return network(p_token::inet);
  elsif p_token ~ '^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*/[0-9]{1,3}$' then
    -- PostgreSQL reads more than the notation allows, as ::1: or ::1..2.
    if pg_input_is_valid(p_token, 'inet')
      and p_token ~ '(?:::|:[0-9a-fA-F]{1,4}|:[0-9]{1,3}(?:\.[0-9]{1,3}){3})/'
    then
      return network(p_token::inet);
    -- 12:30:45/2 is a text.
    elsif strpos(p_token, '::') > 0 or p_token ~ '^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}/' then
      perform logloom_private.refuse_at(
        p_position, 'query.not_a_network', logloom_private.query_excerpt(p_token)
      );
    end if;
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.time_parameter (
  p_name text,
  p_text text
)
  RETURNS timestamp WITH time zone
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_text constant text := logloom_private.trim_space(p_text);
  v_shift constant text[] := regexp_match(v_text, '^now([+-][0-9]{1,10})([smhdw])$');
  v_seconds numeric;
begin
  if v_text is null then
    return null;
  elsif v_text = 'now' then
    return now();
  elsif v_shift is not null then
    v_seconds := v_shift[1]::numeric * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) <= 3155760000 then
      return now() + make_interval(secs => v_seconds);
    end if;
  elsif v_text ~ '^[0-9-]' and pg_input_is_valid(v_text, 'timestamptz') then
    return v_text::timestamptz;
  end if;
  perform logloom_private.refuse('parameters.not_a_time', p_name);
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.unaligned_partitions()
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
begin
  return array(
    select c.relname::text
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass and not i.inhdetachpending
      and pg_get_expr(c.relpartbound, c.oid)
        !~ '^FOR VALUES FROM \(''[\d-]+ 00:00:00\+00''\) TO \(''[\d-]+ 00:00:00\+00''\)$'
    order by c.relname
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.unseal_day (
  p_tenant_id text,
  p_day       date
)
  RETURNS bigint
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
  v_chunk logloom_private.sealed_chunks;
  v_day date;
  v_inserted bigint;
  v_chunk_records bigint;
  v_records bigint := 0;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.first_ts < v_from + interval '24 hours' and c.last_ts >= v_from
  loop
    v_chunk_records := 0;
    for v_day in
      select d::date
      from generate_series(
        logloom_private.utc_day(v_chunk.first_ts), logloom_private.utc_day(v_chunk.last_ts),
        interval '1 day'
      ) d
    loop
      perform logloom_private.create_partition(v_day);
      update logloom_private.sealing_days d set prepared_by = null where d.day = v_day;
      insert into logloom_private.log_days (tenant_id, day) values (p_tenant_id, v_day)
      on conflict do nothing;
      -- Into the partition itself: the counts have these records already.
      execute format(
        'insert into logloom.%I select r.* '
          || 'from logloom_private.chunk_records($4, $1, null, null, null) r '
          || 'where r.ts >= $2 and r.ts < $3 order by r.ts, r.id',
        logloom_private.partition_name(v_day)
      )
      using
        v_chunk.chunk_id, v_day::timestamp at time zone 'UTC',
        (v_day + 1)::timestamp at time zone 'UTC', p_tenant_id;
      get diagnostics v_inserted = row_count;
      v_chunk_records := v_chunk_records + v_inserted;
    end loop;
    if v_chunk_records <> v_chunk.records then
      raise sqlstate 'LL001' using
        message = format('Chunk %s has not as many records as it says', v_chunk.chunk_id);
    end if;
    delete from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
    -- An erasure that is past their place among the rows comes by again: it looks at chunks last.
    update logloom.retention_runs r
    set position_ts = greatest(v_chunk.first_ts, r.ts_from),
      position_id = '00000000-0000-0000-0000-000000000000'
    where r.tenant_id = p_tenant_id and r.kind = 'erasure' and r.status = 'running'
      and r.position_ts > greatest(v_chunk.first_ts, r.ts_from);
    v_records := v_records + v_chunk_records;
  end loop;
  return v_records;
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
      -- The project's may have days of 23 hours.
      perform pg_catalog.set_config('timezone', 'UTC', true);
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

COMMENT ON FUNCTION "logloom_private"."align_partitions"() IS 'Puts days in UTC in the place of partitions that begin at another hour: 0.1.0 made those where the project has a time zone of its own.';

COMMENT ON FUNCTION "logloom_private"."pre_request_health"() IS 'Degraded where PostgREST no longer calls our check before a request. The operations stay safe, they decide who is calling for themselves; what is lost is 400 for a missing header, 405 for another method, the last digits of doubles, and UTC where the project has a time zone.';

COMMENT ON FUNCTION "logloom_private"."unaligned_partitions"() IS 'Partitions that do not begin and end with a day in UTC.';

REVOKE ALL ON FUNCTION "logloom_private"."align_partitions"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."call_host_pre_request"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."call_host_pre_request"() TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."callers_errors"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."callers_errors"() TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."check_operation"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."check_operation"(text) TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."check_request"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."check_request"() TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."error_named"(text, text[]) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."error_named"(text, text[]) TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."errors"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."errors"(text) TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."operations"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."operations"() TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."refuse"(text, text[]) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."refuse"(text, text[]) TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."requested_operation"(text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."requested_operation"(text, text) TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."unaligned_partitions"() FROM PUBLIC;

REVOKE ALL ON SCHEMA "logloom_private" FROM PUBLIC;

GRANT USAGE ON SCHEMA "logloom_private" TO PUBLIC;

-- Days that began at the project's midnight. A reader holds its day for a moment.
do $$
begin
  for v_try in 1..20 loop
    perform logloom_private.maintain_partitions();
    exit when logloom_private.unaligned_partitions() = '{}';
  end loop;
end;
$$;

delete from logloom_private.alert_plans where true;
