-- Lists of alert rules, their history and saved searches within a view; rules evaluated in a view.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(24);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
insert into logloom.log_views (tenant_id, name, query_dsl, hidden_fields, operations, created_by)
values
  ('acme', 'open', null, '{}', '{list_alert_rules,list_alert_history,list_saved_searches}', 'ann'),
  ('acme', 'default', null, '{}', null, 'ann'),
  ('acme', 'shop', 'service:shop', '{host,attrs.user.email}', null, 'ann');
create temp table views as select v.name, v.view_id from logloom.log_views v;
insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
select 'acme', 'v-' || v.name, 'viewer', v.view_id from views v
union all
values ('acme', 'ann', 'owner', null::uuid), ('acme', 'mia', 'member', null);

create function pg_temp.rule(p_name text, p_query_dsl text, p_view text)
returns text
language sql
as $$
  select format(
    '(select r.name from public.create_alert_rule(p_name => %L, p_query_dsl => %L, '
      'p_threshold => 1, p_comparison => ''gt'', p_window_minutes => 5, p_cooldown_minutes => 5, '
      'p_enabled => true, p_notification_destinations => ''{webhook}'', '
      'p_notification_config => ''{"webhook_url": "https://hooks.example/secret"}'', '
      'p_view_id => %L) r)',
    p_name, p_query_dsl, (select v.view_id from views v where v.name = p_view)
  )
$$;

select is(pg_temp.by(r.maker, pg_temp.rule(r.name, 'level:error', r.view)), r.answer, r.name)
from (
  values
    ('ann', 'all', null, 'all'), ('ann', 'open', 'open', 'open'), ('ann', 'shop', 'shop', 'shop'),
    ('mia', 'of a member', 'shop', 'PT403 This requires the role admin')
) r (maker, name, view, answer);
select is(
  pg_temp.by('ann', pg_temp.rule('n', q, 'shop')),
  format('PT400 The field "%s" is hidden from you', f), 'a rule cannot use hidden fields: ' || q
)
from (
  values
    ('host:a', 'host'), ('attrs.user.email:x', 'attrs.user.email'),
    ('level:error | count() by host', 'host'), ('| max(@user.email)', '@user.email')
) c (q, f);
select is(
  pg_temp.by('ann', pg_temp.rule('n', 'level:error', null)) || (
    select pg_temp.by('ann', format(
      '(select 1 from public.update_alert_rule(%L, p_query_dsl => ''host:a''))', r.rule_id
    ))
    from logloom.alert_rules r where r.name = 'shop'
  ),
  'nPT400 The field "host" is hidden from you', 'nor get them by a change'
);

insert into logloom.alert_history (tenant_id, rule_id, value, threshold, view_id)
select 'acme', r.rule_id, 2, 1, r.view_id from logloom.alert_rules r;
update logloom.alert_history h set notification_channels = '{webhook}' where true;
select is(
  pg_temp.by('v-open', $$(select json_agg(
    json_build_array(r.name, r.notification_destinations, r.notification_config)
  ) from public.list_alert_rules() r)$$),
  '[["open", [], {}]]', 'a viewer sees the rules of the view, without addresses'
);
select is(
  pg_temp.by('v-open', $$(select json_agg(h.notification_channels)
    from public.list_alert_history() h)$$),
  '[[]]', 'and their history'
);
select is(
  pg_temp.by('v-default', format('(select 1 from public.%s())', o)),
  'PT403 This caller may not call ' || o, 'a view must list ' || o
)
from unnest(array['list_alert_rules', 'list_alert_history']) o;
select is(
  pg_temp.by('mia', $$(select count(*) from public.list_alert_rules() r
    where r.notification_config ->> 'webhook_url' = 'https://hooks.example/secret')$$),
  '4', 'a member sees all, with addresses'
);
update logloom_private.settings set writing_clients = '{}';
select is(
  pg_temp.by(
    'mia',
    '(select json_agg(distinct r.notification_config::text) from public.list_alert_rules() r)',
    p_claims => '{"client_id": "c"}'
  ),
  '["{}"]', 'but an OAuth client gets no addresses'
);

select is(
  pg_temp.by('ann', format(
    '(select length(public.create_saved_search(p_name => %L, p_query_dsl => ''ts:*'', '
      'p_is_shared => %L, p_view_id => %L)::text))',
    s.name, s.is_shared, (select v.view_id from views v where v.name = s.view)
  )),
  '36', s.name
)
from (
  values ('of the view', true, 'open'), ('not shared', false, 'open'), ('of none', true, null)
) s (name, is_shared, view);
select is(
  pg_temp.by('v-open', '(select json_agg(s.name) from public.list_saved_searches() s)'),
  '["of the view"]', 'a viewer sees the shared searches of the view'
);

-- A rule is evaluated in its view.
select logloom_private.create_partition(logloom_private.utc_day(now() - interval '1 hour'))
\g /dev/null
insert into logloom.logs (id, tenant_id, ts, received_at, write_seq, level, service, host)
select
  gen_random_uuid(), 'acme', date_trunc('minute', now()) - interval '1 hour', now(), 1,
  'error', s.service, 'h'
from (values ('shop'), ('shop'), ('other')) s (service);
create function pg_temp.preview(p_query_dsl text, p_what text)
returns text
language sql
as $$
  select pg_temp.by('mia', format(
    '(select %s from public.preview_alert_rule(p_query_dsl => %L, p_threshold => 0, '
      'p_comparison => ''gt'', p_window_minutes => 5, p_view_id => %L) p)',
    p_what, p_query_dsl, (select v.view_id from views v where v.name = 'shop')
  ))
$$;
select is(pg_temp.preview(p.query_dsl, p.what), p.answer, 'a preview in the view: ' || p.query_dsl)
from (
  values
    ('level:error', '(select max(s.value) from unnest(p.series) s)', '2'),
    ('level:error | count() by service', '(select json_agg(g."group") from unnest(p.groups) g)',
      '[{"service": "shop"}]'),
    ('host:h', '1', 'PT400 The field "host" is hidden from you')
) p (query_dsl, what, answer);
select logloom_private.plan_alert_rules(now(), 10);
select is(
  (
    select g.filter
    from logloom.alert_rules r
    join logloom_private.alert_plans p on p.rule_id = r.rule_id
    join logloom_private.alert_groups g on g.group_id = p.group_id
    where r.name = 'shop'
  ),
  logloom_private.query_sql(
    jsonb_build_object('type', 'and', 'items', jsonb_build_array(
      (logloom_private.compile_query('level:error')).tree,
      (logloom_private.compile_query('service:shop')).tree
    )),
    'l'
  ),
  'a rule reads the records of the view'
);
update logloom.log_views v set query_dsl = 'service:other', updated_at = now() + interval '1 s'
where v.name = 'shop';
select is(
  (
    select array_agg(r.name)
    from unnest(logloom_private.plan_alert_rules(now(), 10)) p (rule_id)
    join logloom.alert_rules r using (rule_id)
  ),
  '{shop}', 'and is planned again when the view changes'
);

select * from finish();
rollback;
