begin;
\ir ../actors.psql
\ir ../by.psql
\ir ../search/records.psql
select plan(22);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');
insert into logloom.log_views (tenant_id, name, query_dsl, hidden_fields, operations, created_by)
select v.*, 'ann'
from (
  values
    ('acme', 'eu', '@region:eu', '{host}'::text[], null::text[]),
    ('acme', 'mute', null, '{msg}', null),
    ('acme', 'counts', null, '{}', '{log_stats}')
) v;
insert into logloom.tenant_members (tenant_id, user_id, email, role)
values ('acme', 'ann', 'ann@acme.test', 'owner'), ('acme', 'bob', 'bob@acme.test', 'member');
insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
select 'acme', 'v-' || v.name, 'viewer', v.view_id from logloom.log_views v;

select pg_temp.add_records($$[
  {"ago": "90 minutes", "level": "error", "service": "web", "msg": "TypeError: x of 1",
    "host": "a", "user_id": "u1",
    "attrs": {"region": "eu", "release": "1.0",
      "stack": "TypeError: x of 1\n at pay (/app/pay.ts:1:2)\n at node:timers:1:1"}},
  {"ago": "20 minutes", "level": "error", "service": "web", "msg": "TypeError: x of 2",
    "host": "a", "user_id": "u2",
    "attrs": {"region": "eu", "release": "1.1",
      "stack": "TypeError: x of 2\n at pay (/app/pay.ts:5:2)\n at node:timers:1:1"}},
  {"ago": "10 minutes", "level": "error", "service": "web", "msg": "TypeError: x of 3",
    "host": "b", "user_id": "u2",
    "attrs": {"region": "us", "release": "1.1", "stack": "at pay (/app/pay.ts:5:2)"}},
  {"ago": "10 minutes", "level": "error", "service": "web", "msg": "Full", "host": "b",
    "attrs": {"region": "us"}},
  {"ago": "5 minutes", "level": "error", "msg": "Full", "host": "b", "attrs": {"region": "us"}},
  {"ago": "5 minutes", "level": "info", "service": "web", "msg": "fine"},
  {"ago": "5 minutes", "level": "error", "service": "web", "msg": "Full", "tenant": "umbrella"}
]$$, nextval('logloom_private.write_seq'));
update logloom_private.error_progress set counted_from = 0, write_seq = 0;
select pg_temp.repeat_while('logloom_private.group_errors() is not null');
update logloom.error_groups set opened_at = now() - interval '8 days'
where title = 'Full' and service = 'web';

create function pg_temp.fingerprint(p_title text, p_service text default 'web')
returns text
language sql
as $$
  select quote_literal(g.fingerprint) from logloom.error_groups g
  where g.tenant_id = 'acme' and g.title = p_title and g.service is not distinct from p_service
$$;
create function pg_temp.listed(p_user_id text, p_arguments text default '')
returns text
language sql
as $$
  select pg_temp.by(p_user_id, format(
    $q$(select string_agg(concat_ws(' ', coalesce(g.service, '-'), g.title, g.state, g.records,
      g.users, g.first_release, g.last_release, g.assigned_to, g.note), '; ' order by n)
      from public.list_error_groups(%s) with ordinality g (
        fingerprint, tenant_id, service, error_type, title, state, first_seen, last_seen, records,
        users, first_release, last_release, assigned_to, note, ignored_until, resolved_at,
        resolved_release, hours, n
      ))$q$,
    p_arguments
  ))
$$;

select is(
  pg_temp.listed('ann'),
  '- Full new 1 0; web TypeError: x of <*> new 3 2 1.0 1.1; web Full open 1 0',
  'new groups come first'
);
select is(
  pg_temp.listed('ann', $$p_order => 'records'$$),
  'web TypeError: x of <*> new 3 2 1.0 1.1; web Full open 1 0; - Full new 1 0',
  'by records; equal ones by fingerprint'
) where pg_temp.fingerprint('Full') > pg_temp.fingerprint('Full', null)
union all
select is(
  pg_temp.listed('ann', $$p_order => 'records'$$),
  'web TypeError: x of <*> new 3 2 1.0 1.1; - Full new 1 0; web Full open 1 0',
  'by records; equal ones by fingerprint'
) where pg_temp.fingerprint('Full') < pg_temp.fingerprint('Full', null);
select is(
  pg_temp.listed('ann', 'p_limit => 1, p_after => ' || pg_temp.fingerprint('Full', null)),
  'web TypeError: x of <*> new 3 2 1.0 1.1', 'a page begins after an item'
);
select is(
  pg_temp.listed('ann', $$p_after => 'nothing'$$), 'PT400 Invalid p_after: no such error group',
  'p_after must be in the list'
);
select results_eq(
  $$select a, pg_temp.listed('ann', a) from unnest(array[
    'p_service => ''''', 'p_first_release => ''1.0''', 'p_new_since => ''now-1h''',
    'p_ts_from => ''now-6m''', 'p_ts_to => ''now-1h''', 'p_state => ''{open}''',
    'p_state => ''{resolved,ignored}''', 'p_assigned_to => ''bob@acme.test'''
  ]) a$$,
  $$values
    ('p_service => ''''', '- Full new 1 0'),
    ('p_first_release => ''1.0''', 'web TypeError: x of <*> new 3 2 1.0 1.1'),
    ('p_new_since => ''now-1h''', '- Full new 1 0; web TypeError: x of <*> new 3 2 1.0 1.1'),
    ('p_ts_from => ''now-6m''', '- Full new 1 0'),
    ('p_ts_to => ''now-1h''', 'web TypeError: x of <*> new 3 2 1.0 1.1'),
    ('p_state => ''{open}''', 'web Full open 1 0'),
    ('p_state => ''{resolved,ignored}''', null),
    ('p_assigned_to => ''bob@acme.test''', null)$$,
  'each filter'
);
select results_eq(
  $$select pg_temp.listed('ann', a) from unnest(array[
    'p_state => ''{closed}''', 'p_state => ''{}''', 'p_order => ''age''', 'p_limit => 0',
    'p_ts_from => ''now'', p_ts_to => ''now-1h'''
  ]) a$$,
  array[
    'PT400 Invalid p_state: any of new, regressed, open, resolved, ignored',
    'PT400 Invalid p_state: any of new, regressed, open, resolved, ignored',
    'PT400 Invalid p_order: priority, last_seen, first_seen or records',
    'PT400 Invalid p_limit: 1 to 1000',
    'PT400 Invalid range: p_ts_from must be before p_ts_to'
  ],
  'what cannot be honoured is refused'
);
select is(
  pg_temp.by('eve', $$(select string_agg(g.title || g.records, ',')
    from public.list_error_groups() g)$$, 'umbrella'),
  'Full1', 'another tenant sees its own'
);
select is(
  pg_temp.by('ann', $$(select g.hours[22:24] from public.list_error_groups() g
    where g.title = 'TypeError: x of <*>')$$)::bigint[],
  (select array_agg(coalesce(c.records, 0) order by h desc)
    from generate_series(2, 0, -1) h
    left join logloom_private.error_counts c on c.at
      = date_bin('1 hour', now(), 'epoch') - make_interval(hours => h) and not c.is_day
      and c.fingerprint = trim('''' from pg_temp.fingerprint('TypeError: x of <*>'))),
  'the last of the 24 hours is the current one'
);

-- A group in detail.
create function pg_temp.detail(p_user_id text, p_path text, p_arguments text)
returns text
language sql
as $$
  select pg_temp.by(p_user_id, format(
    'jsonb_path_query_array(to_jsonb(public.get_error_group(%s)), %L)', p_arguments, p_path
  ))
$$;
select results_eq(
  $$select p, pg_temp.detail('ann', p, 'p_fingerprint => '
      || pg_temp.fingerprint('TypeError: x of <*>'))
    from unnest(array[
      '$.stack[*].line', '$.stack[*].is_own', '$.releases[*].release', '$.releases[*].records',
      '$.newest[*].msg', '$.sampled_records', '$.tags[*].value', '$.tags[0].keyvalue().value',
      '$.days.size()', '$.group.state'
    ]) p$$,
  $$values
    ('$.stack[*].line', '["at pay (/app/pay.ts:5:2)"]'),
    ('$.stack[*].is_own', '[true]'),
    ('$.releases[*].release', '["1.1", "1.0"]'),
    ('$.releases[*].records', '[2, 1]'),
    ('$.newest[*].msg', '["TypeError: x of 3", "TypeError: x of 2", "TypeError: x of 1"]'),
    ('$.sampled_records', '[3]'),
    ('$.tags[*].value', '["eu", "1.1", "a", "u2", "1.0", "u1"]'),
    ('$.tags[0].keyvalue().value', '["@region", 0.6667, "eu", 0]'),
    ('$.days.size()', '[' || (select count(*) from logloom_private.error_counts c where c.is_day
      and c.fingerprint = trim('''' from pg_temp.fingerprint('TypeError: x of <*>'))) || ']'),
    ('$.group.state', '["new"]')$$,
  'a group shows where, since which release and for whom'
);
select is(
  pg_temp.detail('ann', '$.group.title', format('p_id => %L, p_ts => %L', l.id, l.ts)),
  '["TypeError: x of <*>"]', 'the group of a record'
)
from logloom.logs l where l.msg = 'TypeError: x of 2';
select results_eq(
  $$select pg_temp.detail('ann', '$.group', a) from unnest(array[
    '', 'p_fingerprint => ''00''', 'p_id => gen_random_uuid()',
    format('p_id => %L', (select l.id from logloom.logs l where l.msg = 'fine'))
  ]) a$$,
  array[
    'PT400 Send either p_fingerprint or p_id', 'PT404 Error group not found',
    'PT404 Log record not found', 'PT400 The record belongs to no error group'
  ],
  'no group'
);

-- People.
create function pg_temp.changed(p_user_id text, p_arguments text, p_title text default 'Full')
returns text
language sql
as $$
  select pg_temp.by(p_user_id, format(
    'public.update_error_group(array[%s], %s)', pg_temp.fingerprint(p_title), p_arguments
  ))
$$;
select is(
  pg_temp.changed('bob', $$p_assigned_to => 'ANN@acme.test', p_note => ' look '$$), '(t)',
  'assigned'
);
select is(
  pg_temp.listed('bob', $$p_assigned_to => 'ann@acme.test'$$),
  'web Full open 1 0 ann@acme.test look', 'assigned people are shown by their address'
);
select is(pg_temp.listed('bob', $$p_assigned_to => '', p_state => '{open}'$$), null, 'nobody''s');
select results_eq(
  $$select pg_temp.changed('bob', a) from unnest(array[
    'p_state => ''new''', 'p_note => null', 'p_state => ''open'', p_release => ''1''',
    'p_state => ''ignored'', p_ignored_until => ''now-1h''', 'p_ignored_until => ''now+1h''',
    'p_assigned_to => ''eve''', 'p_note => repeat(''x'', 2001)',
    'p_merge_into => ' || pg_temp.fingerprint('Full'), 'p_merge_into => ''00'''
  ]) a$$,
  array[
    'PT400 Invalid p_state: open, resolved or ignored',
    'PT400 Nothing to change: send p_state, p_assigned_to, p_note or p_merge_into',
    'PT400 Invalid p_release: at most 200 characters, together with p_state resolved',
    'PT400 Invalid p_ignored_until: a time in the future, together with p_state ignored',
    'PT400 Invalid p_ignored_until: a time in the future, together with p_state ignored',
    'PT400 Invalid p_assigned_to: not the user_id or email address of one member',
    'PT400 Invalid p_note: at most 2000 characters',
    'PT400 Invalid p_merge_into: it is one of p_fingerprints',
    'PT404 Error group not found'
  ],
  'what cannot be changed is refused'
);
select is(
  pg_temp.by('ann', format('public.update_error_group(array[%s, ''00''], ''resolved'')',
    pg_temp.fingerprint('Full'))),
  'PT404 Error group not found', 'all groups or none'
);
select results_eq(
  $$select a.actor, a.action, a.details - 'assigned_to'
    from logloom.audit_events a where a.subject = trim('''' from pg_temp.fingerprint('Full'))$$,
  $$values ('bob', 'error_group.changed', '{}'::jsonb)$$, 'changes are audited'
);

-- In a view: groups of its own records, without people, history and hidden fields.
select is(
  pg_temp.listed('v-eu'), 'web TypeError: x of <*> open 2 2 1.0 1.1',
  'only records of the view count'
);
select results_eq(
  $$select p, pg_temp.detail('v-eu', p, 'p_fingerprint => '
      || pg_temp.fingerprint('TypeError: x of <*>'))
    from unnest(array[
      '$.group.records', '$.newest[*].host', '$.tags', '$.days', '$.hours[*].records'
    ]) p$$,
  $$values
    ('$.group.records', '[2]'), ('$.newest[*].host', '[null, null]'), ('$.tags', '[[]]'),
    ('$.days', '[null]'), ('$.hours[*].records', '[1, 1]')$$,
  'also in detail'
);
select results_eq(
  $$select pg_temp.listed('v-mute') union all select pg_temp.listed('v-counts')
    union all select pg_temp.listed('v-eu', 'p_new_since => ''now-1h''')
    union all
    select pg_temp.detail('v-eu', '$.group', 'p_fingerprint => ' || pg_temp.fingerprint('Full'))
    union all select pg_temp.changed('v-eu', 'p_state => ''resolved''')$$,
  array[
    'PT403 This view hides fields that decide the error groups',
    'PT403 This caller may not call list_error_groups',
    'PT400 p_new_since does not work in a view or with a portal session',
    'PT404 Error group not found', 'PT403 A viewer may only read'
  ],
  'what a view cannot answer is refused'
);

-- Sealed records.
select set_config('logloom_test.sealed', 'all', true) \g /dev/null
select pg_temp.seal_as_set('acme');
select is(
  pg_temp.detail('ann', '$.newest.size()', 'p_fingerprint => '
    || pg_temp.fingerprint('TypeError: x of <*>')), '[3]', 'sealed records are found'
);
insert into logloom.retention_runs (
  tenant_id, kind, status, requested_by, query_dsl, ts_from, ts_to, requested_at
)
values ('acme', 'erasure', 'queued', 'ann', 'user_id:u2', now() - interval '1 day', now(), now());
select pg_temp.repeat_while(format('logloom_private.deletion_step(%L)', r.run_id))
from logloom.retention_runs r
where r.kind = 'erasure';
select is(
  pg_temp.listed('ann', $$p_service => 'web'$$),
  'web TypeError: x of <*> new 1 2 1.0 1.1; web Full open 1 0 ann@acme.test look',
  'a deletion from a block lowers the counts'
);
select * from finish();
rollback;
