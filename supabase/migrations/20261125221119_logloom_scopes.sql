-- Scopes: made in three places, measured by what they show; rules of a view pause with their maker.

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."alert_reader"(logloom_private.reading_scope, text, text);

DROP FUNCTION "logloom_private"."checked_scope"(logloom_private.reading_scope, text);

DROP FUNCTION "logloom_private"."scope_of_token"();

DROP FUNCTION "logloom_private"."sized_rows_sql"(text, text, bigint);

CREATE OR REPLACE FUNCTION logloom_private.alert_rule_for (
  p_row            logloom.alert_rules,
  p_sees_addresses boolean,
  p_view_id        uuid
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if not p_sees_addresses then
    p_row.notification_destinations := '{}';
    p_row.notification_config := '{}';
  end if;
  -- What it found before it was bound to the view as it is now is none of the view.
  if p_view_id is not null and (
    p_row.last_evaluated_at > greatest(
      p_row.asked_at,
      (select v.shows_since from logloom.log_views v where v.view_id = p_view_id)
    )
  ) is not true
  then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    p_row.last_error := null;
  end if;
  return logloom_private.alert_rule_of(p_row);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.audit_log_views()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes audit events
declare
  v_view constant logloom.log_views := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_view.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'view.created'
      when 'DELETE' then 'view.deleted'
      else 'view.changed'
    end,
    v_view.view_id::text,
    jsonb_build_object('name', v_view.name)
    || case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        to_jsonb(old) - '{updated_at,shows_since}'::text[],
        to_jsonb(new) - '{updated_at,shows_since}'::text[]
      )
      else jsonb_strip_nulls(jsonb_build_object(
        'query_dsl', v_view.query_dsl, 'hidden_fields', v_view.hidden_fields,
        'operations', v_view.operations
      ))
    end
  );
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.change_log_view (
  p_tenant_id     text,
  p_view_id       uuid,
  p_name          text,
  p_query_dsl     text,
  p_hidden_fields text[],
  p_operations    text[]
)
  RETURNS public.logloom_log_view
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_query_dsl text;
  v_hidden_fields text[];
  v_operations text[];
  v_row logloom.log_views;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_view_id', p_view_id is null);
  v_query_dsl := logloom_private.checked_view_query(v_tenant_id, p_query_dsl);
  v_hidden_fields := logloom_private.checked_hidden_fields(p_hidden_fields);
  v_operations := logloom_private.checked_view_operations(p_operations);
  update logloom.log_views v
  set
    name = coalesce(logloom_private.trim_space(p_name), v.name),
    query_dsl = case when p_query_dsl is null then v.query_dsl else v_query_dsl end,
    hidden_fields = case
      when p_hidden_fields is null then v.hidden_fields else v_hidden_fields
    end,
    operations = case when p_operations is null then v.operations else v_operations end,
    updated_at = now(),
    shows_since = case
      when (p_query_dsl is null or v_query_dsl is not distinct from v.query_dsl)
        and (p_hidden_fields is null or v_hidden_fields = v.hidden_fields)
        then v.shows_since
      else now()
    end
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id
  returning v.* into v_row;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
  return logloom_private.log_view_of(v_row);
exception
when unique_violation then
  perform logloom_private.refuse('views.name_is_taken');
  return null;
when check_violation then
  perform logloom_private.refuse('views.name_is_invalid');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_hidden_fields (
  p_hidden_fields text[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names text[] := '{}';
  v_name text;
begin
  if cardinality(p_hidden_fields) > 100 or array_ndims(p_hidden_fields) > 1 then
    perform logloom_private.refuse('views.too_many_hidden_fields');
  end if;
  foreach v_name in array coalesce(p_hidden_fields, '{}') loop
    v_name := logloom_private.trim_space(v_name);
    if v_name is distinct from 'attrs' then
      if v_name is null or length(v_name) not between 1 and 200
        or v_name in ('id', 'tenant_id', 'ts', 'received_at', 'any')
      then
        perform logloom_private.refuse(
          'views.field_cannot_be_hidden', coalesce(left(v_name, 60), 'null')
        );
      end if;
      v_name := logloom_private.hidden_name(logloom_private.query_field(v_name, 1));
    end if;
    v_names := v_names || v_name;
    if v_name = 'level' then
      v_names := v_names || 'attrs.original_level'::text;
    end if;
  end loop;
  return array(select distinct n collate "C" from unnest(v_names) n order by 1);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_scope (
  p_scope     logloom_private.reading_scope,
  p_operation text,
  p_tenant_id text                          DEFAULT NULL::text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_scope is null then
    p_scope := logloom_private.scope_of_token(p_tenant_id);
  elsif not logloom_private.is_service_role() then
    perform logloom_private.refuse('callers.operation_is_internal', p_operation);
  elsif p_tenant_id <> p_scope.tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  -- Alerts tell of all records: a view opens them by name alone. To customers, who read in portal
  -- sessions, so it opens saved searches, too.
  if p_operation <> all (p_scope.operations)
    or p_scope.operations is null and p_operation = any (case
      when starts_with(p_scope.actor, 'portal ')
        then '{list_alert_rules,list_alert_history,list_saved_searches}'::text[]
      when p_scope.view_id is not null then '{list_alert_rules,list_alert_history}'
      else '{}'
    end)
  then
    perform logloom_private.refuse('callers.operation_is_outside', p_operation);
  end if;
  return p_scope;
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
  execute 'with piece as materialized (select l.*, ' || p_query.filter || ' as is_found '
    || logloom_private.log_tail_rows_sql(
      p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last, 9223372036854775807
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
  v_fields constant text[] := array(
    select f.name from unnest(logloom_private.record_fields()) f where f.place is not null
  ) || 'attrs'::text;
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  return logloom_private.sized_rows_sql(
    logloom_private.first_records_sql(
      p_tenant_id, p_query, v_settings.search_sample_records, 'desc',
      p_reads => v_fields || array['msg.exists', 'record_bytes'],
      p_bytes => v_settings.search_sample_bytes
    ),
    'l.ts desc, l.id desc', v_settings.search_sample_bytes,
    case when p_query.hidden_fields is not null then format(
      'octet_length(to_json(row(%s))::text)',
      array_to_string(array(select 'l.' || f from unnest(v_fields) f), ', ')
    ) end
  ) || ' where l.fits';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_tail_rows_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_bytes     bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_kept_from constant timestamptz := logloom_private.kept_from(p_tenant_id);
  v_days timestamptz[];
  v_filter text;
  v_write_seqs text;
  v_rows text;
  v_is_sealed boolean;
  v_order constant text := ' order by l.write_seq, l.id limit ' || p_limit;
begin
  select array_agg(distinct a.day::timestamp at time zone 'UTC') into v_days
  from logloom_private.log_writes a
  where a.write_seq >= p_first;
  v_write_seqs := format('l.write_seq between %s and %s and ', p_first, p_last);
  if p_id is not null then
    v_write_seqs := v_write_seqs
      || format('(l.write_seq > %s or l.id > %L::uuid) and ', p_first, p_id);
  end if;
  v_filter := v_write_seqs;
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
    p_tenant_id, greatest(v_days[1], v_kept_from),
    v_days[cardinality(v_days)] + interval '24 hours', v_filter || p_query.filter, null
  );
  -- What a client that was away for long missed may be sealed by now.
  v_is_sealed := exists (
    select
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
  );
  v_rows := case when v_is_sealed then
        'from (select l.* ' || v_rows
        || ' union all select l.* from logloom_private.sealed_write_seqs('
        || format(
          '%s, %L, %L, %L, %L, %L, %L, %L',
          logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_first, p_id, p_last,
          v_kept_from, p_query.tree,
          case when p_query.masked_tree is null then p_limit end,
          case when p_query.hidden_fields is null then p_bytes else 9223372036854775807 end
        )
        || ') l) l where true'
      else
        v_rows
      end;
  if p_query.masked_tree is null then
    v_rows := v_rows || v_order;
  end if;
  if p_query.hidden_fields is not null then
    v_rows := logloom_private.masked_sql(p_query, v_rows) || v_order;
  end if;
  return v_rows;
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
begin
  return logloom_private.page_sql(
    p_query,
    logloom_private.log_tail_rows_sql(
      p_tenant_id, p_query, p_limit, p_first, p_id, p_last, p_bytes
    ),
    'l.write_seq, l.id', p_limit, p_bytes, p_fits, ', l.write_seq, l.id'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.page_sql (
  p_query    logloom_private.compiled_query,
  p_rows     text,
  p_order    text,
  p_limit    integer,
  p_bytes    bigint,
  p_is_exact boolean                        DEFAULT true,
  p_others   text                           DEFAULT ''::text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Without fields it is a constant to the planner.
  v_record constant text := 'row(' || case
    when p_query.plan ? 'fields' then logloom_private.shown_columns_sql(p_query.plan -> 'fields')
    else logloom_private.shown_columns_sql()
  end || ')::public.logloom_log_record';
  v_window constant text := 'window before as (order by ' || p_order
    || ' rows between unbounded preceding and 1 preceding)';
  v_size text := 'coalesce(l.record_bytes, octet_length(to_json(l)::text))';
  v_attrs text := 'l.attrs';
begin
  if jsonb_array_length(p_query.plan -> 'rows') > 0 or p_query.hidden_fields is not null then
    -- What is extracted comes on top of what a record has, and what is hidden is none of it.
    v_size := 'octet_length(to_json(' || v_record || ')::text)';
    v_attrs := '(' || v_record || ').attrs';
  end if;
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    p_rows := 'from (select l.* '
      || logloom_private.staged_sql(p_query, 'from (select l.* ' || p_rows || ') l')
      || format(' order by %s limit %s) l', p_order, p_limit);
  elsif not p_is_exact and p_query.hidden_fields is null then
    return format(
      'select case when l.record_bytes <= %s then %s end as record%s %s',
      least(p_bytes / greatest(p_limit, 1), 65536), v_record, p_others, p_rows
    );
  end if;
  -- First by the size that is known. Of what that leaves the attributes are opened: numbers take
  -- up to four times as much there as their text, and reading them more than that.
  return 'select case when not l.fits then null when l.size > '
    || (select s.max_page_bytes from logloom_private.settings s)
    || ' then logloom_private.cut_record(' || v_record || ', l.size) else ' || v_record
    || ' end as record' || p_others || ' '
    || 'from (select l.*, coalesce(sum(case when l.may_fit then '
    || 'greatest(l.size, 2 * pg_column_size(' || v_attrs || ' #> ''{}'') - l.size) '
    || 'else l.size end) '
    || 'over before, 0) < '
    || p_bytes || ' as fits from (select l.*, coalesce(sum(l.size) over before, 0) < ' || p_bytes
    || ' as may_fit from (select l.*, ' || v_size || ' as size from (select l.* ' || p_rows
    || ') l) l ' || v_window || ') l ' || v_window || ') l order by ' || p_order;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pause_rules_of_member()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes audit events
begin
  with paused as (
    update logloom.alert_rules r
    set enabled = false, updated_at = now()
    where r.tenant_id = old.tenant_id and r.created_by = old.user_id
      and r.view_id is not null and r.enabled
    returning r.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    p.tenant_id, logloom_private.actor(), 'alert_rule.paused', p.rule_id::text,
    jsonb_build_object('name', p.name, 'created_by', p.created_by, 'view_id', p.view_id)
  from paused p;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_history (
  p_scope        logloom_private.reading_scope,
  p_tenant_id    text,
  p_rule_id      uuid,
  p_ts_from      text,
  p_ts_to        text,
  p_acknowledged boolean,
  p_limit        integer,
  p_after        uuid
)
  RETURNS SETOF public.logloom_alert_history_entry
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_history', p_tenant_id);
  v_sees_addresses constant boolean :=
    logloom_private.sees_addresses(p_scope is not null, v_scope);
  v_shows_since constant timestamptz := (
    select v.shows_since from logloom.log_views v where v.view_id = v_scope.view_id
  );
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert', 'alert_id',
    (
      select h.triggered_at from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id and h.alert_id = p_after
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
    )
  );
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
    h.notification_sent_at is not null, h.notification_sent_at,
    case when v_sees_addresses then h.notification_channels else '{}' end,
    case when v_sees_addresses then h.notification_error end,
    h.window_start, h.window_end, h."group"
  from (
    select l.*, sum(octet_length(l."group"::text)) over (
      order by l.triggered_at desc, l.alert_id desc
      rows between unbounded preceding and 1 preceding
    ) as bytes_before
    from (
      select h.*
      from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
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
  where coalesce(h.bytes_before, 0) < logloom_private.list_bytes()
  order by h.triggered_at desc, h.alert_id desc;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_rules (
  p_scope     logloom_private.reading_scope,
  p_tenant_id text,
  p_limit     integer,
  p_after     uuid
)
  RETURNS SETOF public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_rules', p_tenant_id);
  v_sees_addresses constant boolean :=
    logloom_private.sees_addresses(p_scope is not null, v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert rule', 'rule_id',
    (
      select r.created_at from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id and r.rule_id = p_after
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
    )
  );
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
      select logloom_private.alert_rule_for(r, v_sees_addresses, v_scope.view_id) as item
      from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
        and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
      order by r.created_at desc, r.rule_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_token (
  p_tenant_id text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_claims constant jsonb := logloom_private.claims();
  v_scope logloom_private.reading_scope;
  v_view_id uuid;
begin
  v_scope.tenant_id := logloom_private.caller_tenant(p_tenant_id);
  v_scope.actor := v_claims ->> 'sub';
  if logloom_private.is_service_role() then
    return v_scope;
  elsif logloom_private.acting_role(v_scope.tenant_id, v_scope.actor, v_claims) = 'viewer' then
    select m.view_id into v_view_id
    from logloom.tenant_members m
    where m.tenant_id = v_scope.tenant_id and m.user_id = v_scope.actor;
    if not found and pg_input_is_valid(v_claims -> 'app_metadata' ->> 'logloom_view', 'uuid') then
      v_view_id := v_claims -> 'app_metadata' ->> 'logloom_view';
    end if;
    v_scope := logloom_private.scope_in_view(v_scope, v_view_id);
  end if;
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sized_rows_sql (
  p_rows  text,
  p_order text,
  p_bytes bigint,
  p_size  text   DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format(
    'from (select l.*, coalesce(sum(l.size) over (order by %2$s rows between unbounded preceding '
      || 'and 1 preceding), 0) < %3$s as fits from (select l.*, '
      || '%4$s as size from (select l.* %1$s) l) l) l',
    p_rows, p_order, p_bytes,
    coalesce(p_size, 'coalesce(l.record_bytes, octet_length(to_json(l)::text))')
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.users_of_view (
  p_tenant_id text,
  p_view_id   uuid
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select u.name
    from (
      select 'API key ' || k.name
      from logloom.api_keys k
      where k.tenant_id = p_tenant_id and k.view_id = p_view_id
        and logloom_private.api_key_status(k.revoked_at, k.expires_at) = 'active'
      union all
      select 'member ' || coalesce(m.email, m.user_id)
      from logloom.tenant_members m
      where m.tenant_id = p_tenant_id and m.view_id = p_view_id
      union all
      select 'portal session ' || coalesce(s.label, s.session_id::text)
      from logloom.portal_sessions s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
        and s.revoked_at is null and s.expires_at > now()
      union all
      select 'alert rule ' || r.name
      from logloom.alert_rules r
      where r.tenant_id = p_tenant_id and r.view_id = p_view_id
      union all
      select case
        when s.is_shared or s.created_by = logloom_private.current_user_id()
          then 'saved search ' || s.name
        else 'a private saved search of ' || s.created_by
      end
      from logloom.saved_searches s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
    ) u (name)
    order by u.name
    limit 10
  );
end;
$function$;

create or replace function logloom_private.current_admin_tenant_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.current_tenant_id();
begin
  if logloom_private.acting_role(
    v_tenant_id, logloom_private.current_user_id(), logloom_private.claims()
  ) in ('admin', 'owner')
  then
    return v_tenant_id;
  end if;
  return null;
end;
$$;

create or replace function logloom_private.refuse_hidden_fields(
  p_query logloom_private.compiled_query,
  p_query_dsl text,
  p_hidden text[]
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_tokens logloom_private.query_state;
  v_position integer;
begin
  if p_hidden is null then
    return;
  end if;
  select coalesce(f ->> 'name', f ->> 'field') into v_name
  from (
    select jsonb_path_query(
      jsonb_build_array(p_query.tree, p_query.plan), 'strict $.** ? (@.field.type() == "string")'
    ) as f
    union all
    select '{"field": "msg"}' where p_query.plan ? 'patterns'
  ) named
  where logloom_private.is_hidden(logloom_private.hidden_name(f), p_hidden)
  limit 1;
  if found then
    -- Where it stands as a name; one that is quoted in part is several tokens.
    v_tokens := logloom_private.query_tokenize(coalesce(p_query_dsl, ''), now());
    select min(t.position + n."at" - 1) into v_position
    from unnest(v_tokens.texts, v_tokens.positions) t (text, position)
    cross join lateral strpos(t.text, v_name) n ("at")
    where n."at" > 0
      and left(t.text, 1) <> '"'
      and (n."at" = 1 or substr(t.text, n."at" - 1, 1) in ('-', ','))
      and substr(t.text, n."at" + length(v_name), 1) in ('', ':', ',');
    perform logloom_private.refuse_at(
      greatest(coalesce(v_position, strpos(p_query_dsl, v_name)), 1), 'search.field_is_hidden',
      logloom_private.query_excerpt(v_name)
    );
  end if;
end;
$$;

create or replace function logloom_private.granted_functions()
returns table (roles text, names text[])
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
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
        'caller_tenant', 'claims', 'current_tenant_id', 'current_user_id', 'is_service_role',
        'require_user_id', 'resolve_tenant', 'tenant_of_claims', 'usable_id'
      ]),
      ('authenticated, service_role', array[
        'abolish_tenant', 'acting_role', 'alert_rule_of', 'api_key_status', 'change_log_view',
        'change_member', 'check_query', 'check_settings', 'confirm_address',
        'current_admin_tenant_id', 'distinct_destinations', 'effective_settings',
        'end_portal_session', 'enqueue_rule_test', 'enroll_member', 'found_tenant', 'hold_view',
        'is_being_deleted', 'is_viewer',
        'issue_api_key', 'issue_ingest_token', 'issue_portal_session', 'list_bytes', 'list_limit',
        'log_view_of', 'make_log_view', 'my_key_reads', 'my_stored', 'my_usage', 'new_api_key',
        'note_saved_search_run', 'page_of_addresses', 'page_of_deliveries', 'page_place',
        'plan_feature', 'plan_of', 'preview_windows', 'provision_current_tenant',
        'put_back_delivery', 'read_alert_history', 'read_alert_rules', 'read_log',
        'read_log_changes', 'read_log_context', 'read_log_export', 'read_log_fields',
        'read_log_histogram', 'read_log_page', 'read_log_series', 'read_log_stats',
        'read_log_tail', 'read_members', 'read_query_validity', 'read_saved_search',
        'read_saved_searches', 'reads_again', 'reads_only', 'refuse_for_now',
        'refuse_saved_search', 'refuse_with_headers', 'remove_log_view', 'replace_webhook_secret',
        'request_deletion', 'require_parameter', 'require_role', 'require_room_for',
        'require_room_for_api_key', 'require_rule_in_view', 'require_view_by_admin',
        'require_view_for_key', 'require_writing_client', 'resolve_tenant_to_change',
        'retention_days', 'saved_search_of', 'sent_claims', 'service_operations', 'tags_are_valid',
        'tenant_with_plan', 'time_parameter', 'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_due_notifications', 'ingest', 'ingest_each', 'open_portal_session', 'read_by_key',
        'read_health', 'run_writer_in_place', 'settle_claim'
      ])
  ) g (roles, names);
end;
$$;

do $$
begin
  -- Small tables, which every request reads.
  perform set_config('lock_timeout', '30s', true);
  alter table logloom.log_views
    add column shows_since timestamptz not null default now();
  alter table logloom.audit_events
    drop constraint audit_events_action_is_known,
    add constraint audit_events_action_is_known check (
      action in (
        'alert_rule.paused',
        'api_key.created', 'api_key.changed', 'api_key.revoked', 'api_key.deleted',
        'ingest_token.created',
        'portal_session.created', 'portal_session.first_used', 'portal_session.revoked',
        'member.added', 'member.changed', 'member.removed',
        'settings.changed', 'plan.changed',
        'view.created', 'view.changed', 'view.deleted',
        'logs.deletion_requested', 'logs.deletion_finished'
      )
    );
  create trigger pause_rules_of_removed_member
  after delete on logloom.tenant_members
  for each row execute function logloom_private.pause_rules_of_member();
  create trigger pause_rules_of_new_viewer
  after update of role on logloom.tenant_members
  for each row when (new.role = 'viewer' and old.role <> 'viewer')
  execute function logloom_private.pause_rules_of_member();
  drop policy api_keys_insert_tenant on logloom.api_keys;
  drop policy api_keys_update_tenant on logloom.api_keys;
  create policy api_keys_insert_admin on logloom.api_keys
  for insert to authenticated
  with check (tenant_id = (select logloom_private.current_admin_tenant_id()));
  create policy api_keys_update_admin on logloom.api_keys
  for update to authenticated
  using (tenant_id = (select logloom_private.current_admin_tenant_id()))
  with check (tenant_id = (select logloom_private.current_admin_tenant_id()));
  drop policy tenant_settings_insert_tenant on logloom.tenant_settings;
  drop policy tenant_settings_update_tenant on logloom.tenant_settings;
  create policy tenant_settings_insert_admin on logloom.tenant_settings
  for insert to authenticated
  with check (tenant_id = (select logloom_private.current_admin_tenant_id()));
  create policy tenant_settings_update_admin on logloom.tenant_settings
  for update to authenticated
  using (tenant_id = (select logloom_private.current_admin_tenant_id()))
  with check (tenant_id = (select logloom_private.current_admin_tenant_id()));
  perform set_config('lock_timeout', '0', true);
end;
$$;

COMMENT ON COLUMN "logloom"."log_views"."shows_since" IS 'Since when it shows what it shows: made, or given another query or other hidden fields. What rules found in it before is none of it.';

COMMENT ON TYPE "logloom_private"."reading_scope" IS 'What a reader may see: of tenant_id, the records that pass filter (the tree of a compiled query; null: all), without hidden_fields (names of fields and paths of attrs; null: none), by operations (null: all that read). actor: who reads: a user, the id of a key, or portal and the id of a session. view_id: the view that says so, where they are bound to one.';

select logloom_private.finish_migration();
