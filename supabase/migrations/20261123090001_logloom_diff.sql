-- Written by npm run migration from the difference between the released migrations and
-- supabase/schemas. It is to be read and corrected by hand:
--   * Rows, jobs of pg_cron and partitioned tables' settings are not in it, nor are grants on
--     parameters and roles' settings.
--   * A renamed column is dropped and made anew here: write alter table … rename instead.
--   * What locks a table that is written to all the time (a new check, a default that is computed,
--     an index) is better done in steps: not valid first, then validate.
--   * What changes logloom.logs begins with: select logloom_private.hold_writers();
--   * Deployed functions of the version before go on calling while this is applied.
--   * Its name belongs into supabase/uninstall.sql, among those that leave the project's history.

SET local check_function_bodies = off;

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
      'Claim again for more.', '`claim_alert_notifications`, which only the function `logloom-notify` calls.'),
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
    'list_alert_deliveries',
    'list_alert_history',
    'list_alert_rules',
    'list_api_keys',
    'list_tenant_audit_events',
    'list_log_fields',
    'list_tenant_members',
    'list_alert_addresses',
    'list_log_retention_runs',
    'list_saved_searches',
    'log_histogram',
    'log_series',
    'log_stats',
    'preview_alert_rule',
    'remove_tenant_member',
    'retry_alert_delivery',
    'revoke_api_key',
    'rotate_api_key',
    'rotate_alert_webhook_secret',
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
    -- Every record, also one without a message, so the counts answer it as they do the empty filter.
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

CREATE OR REPLACE FUNCTION logloom_private.unconfirmed_address()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'The address is not confirmed: confirm_alert_address takes the code that was '
    'mailed to it, test_alert_rule mails a new one';
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

COMMENT ON COLUMN "logloom_private"."settings"."dry_runs_kept" IS 'Newest dry runs of delete_logs of a tenant that list_log_retention_runs shows.';

COMMENT ON FUNCTION "logloom_private"."enroll_member"(text, text, text, text) IS 'Enrolls a user, and in the first place who does so; what public.add_tenant_member answers.';

COMMENT ON FUNCTION "logloom_private"."is_address_of_member"(text, text) IS 'Whether a member of the tenant confirmed this email address to Supabase Auth. What add_tenant_member was given is a label, and proves nothing.';

COMMENT ON FUNCTION "logloom_private"."send_notifications"() IS 'Wakes the edge function logloom-notify when something is due.';

COMMENT ON FUNCTION "public"."claim_alert_notifications"(integer) IS 'What the edge function logloom-notify calls: takes due notifications, p_limit 1 to 100. One that is not settled in time is due again. Errors: PT400.';

COMMENT ON FUNCTION "public"."delete_logs"(text, text, text, boolean) IS 'Deletes the tenant''s records that match p_query_dsl from p_ts_from (inclusive) to p_ts_to (exclusive), dead letters included. With p_dry_run (default true) nothing is deleted: records says how many match. Else a job deletes what was acknowledged before; list_log_retention_runs tells how far it is. Returns the run. Errors: PT400, PT401, PT408 (the dry run took over 15 s), PT429 (too many are open, or for a dry run too many searches running).';

COMMENT ON FUNCTION "public"."settle_alert_notification"(uuid, uuid, text, integer, text, integer) IS 'What the edge function logloom-notify calls after an attempt. p_outcome: delivered; retry, which is tried again after a back-off, or p_retry_after seconds where that is longer; failed, which is given up. p_status: HTTP or SMTP status. Errors: PT400.';

COMMENT ON TABLE "logloom_private"."notify_endpoint" IS 'Where the edge function logloom-notify is, and the secret that it knows its caller by.';

select logloom_private.bring_to_nodes();
