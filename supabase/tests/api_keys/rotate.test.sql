begin;
\ir ../actors.psql
select plan(20);

select pg_temp.act_as_user('acme', 'alice');
create temp table old as select * from public.create_api_key(p_name => 'web');
create temp table new as
select r.* from old o, public.rotate_api_key(p_key_id => o.key_id, p_overlap_minutes => 30) r;
grant select on old, new to public;

select is(
  (select jsonb_build_object('name', n.name, 'scopes', n.scopes, 'status', n.status) from new n),
  '{"name": "web", "scopes": ["ingest"], "status": "active"}', 'the new key is like the old one'
);
select isnt(n.key_value, o.key_value, 'with another value') from old o, new n;
select is(n.expires_at, null, 'and without an expiry, like the old one') from new n;
select is(
  (select l.expires_at from public.list_api_keys() l where l.key_id = o.key_id),
  now() + interval '30 minutes', 'the old one ends after the overlap'
) from old o;

select is(
  (select r.expires_at from old o, public.rotate_api_key(p_key_id => o.key_id) r), null,
  'rotating again, after a lost answer, gives a key without an expiry, too'
);

select pg_temp.act_as_postgres();
create function pg_temp.works(p_key_value text)
returns boolean
language plpgsql
as $$
begin
  perform logloom_private.authenticate_sender(
    null, encode(sha256(convert_to(p_key_value, 'UTF8')), 'hex'), null
  );
  return true;
exception when sqlstate 'PT401' then
  return false;
end;
$$;
select is(
  array[pg_temp.works(o.key_value), pg_temp.works(n.key_value)], '{t,t}',
  'both keys work during the overlap'
) from old o, new n;
update logloom.api_keys set expires_at = now() where expires_at is not null;
select is(
  array[pg_temp.works(o.key_value), pg_temp.works(n.key_value)], '{f,t}',
  'after the overlap only the new key works'
) from old o, new n;

select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  format('select public.rotate_api_key(p_key_id => %L)', o.key_id),
  'PT400', 'Invalid p_key_id: the API key is revoked or expired', 'an expired key cannot be rotated'
) from old o;
select public.revoke_api_key(p_key_id => n.key_id) from new n;
select throws_ok(
  format('select public.rotate_api_key(p_key_id => %L)', n.key_id),
  'PT400', 'Invalid p_key_id: the API key is revoked or expired', 'nor can a revoked key'
) from new n;

create temp table short as
select * from public.create_api_key(p_name => 's', p_expires_at => 'now+10m');
select is(
  (select r.expires_at from short s, public.rotate_api_key(p_key_id => s.key_id) r),
  now() + interval '10 minutes', 'the new key has the lifetime of the old one'
);
select is(
  (select l.expires_at from public.list_api_keys() l where l.key_id = s.key_id),
  now() + interval '10 minutes', 'the overlap does not extend the old key'
) from short s;
select public.rotate_api_key(p_key_id => s.key_id, p_overlap_minutes => 1) from short s;
select is(
  (select r.expires_at from short s, public.rotate_api_key(p_key_id => s.key_id) r),
  now() + interval '10 minutes', 'a short overlap does not shorten the new key'
);
-- During one of these lifetimes the clocks of New York change, whatever day it is.
create temp table long as
select k.*, h.hours
from unnest(array[120, 240]) d (days)
cross join lateral (select make_interval(hours => 24 * d.days)) h (hours)
cross join lateral public.create_api_key(
  p_name => 'long', p_expires_at => (now() + h.hours)::text
) k;
select is(
  array(
    select r.expires_at - now() = l.hours
    from long l, public.rotate_api_key(p_key_id => l.key_id) r
  ),
  '{t,t}', 'lifetimes are exact even if the clocks change'
);
create temp table none as select * from public.create_api_key(p_name => 'n');
select public.rotate_api_key(p_key_id => n.key_id, p_overlap_minutes => 0) from none n;
select is(
  (select l.status from public.list_api_keys() l where l.key_id = n.key_id), 'expired',
  'without overlap the old key ends at once'
) from none n;

select throws_ok(
  format(
    'select public.rotate_api_key(p_key_id => %L, p_overlap_minutes => %s)', gen_random_uuid(), m
  ),
  'PT400', 'Invalid p_overlap_minutes: 0 to 10080', 'an overlap of ' || m
) from unnest(array[-1, 10081]) m;
select throws_ok(
  'select public.rotate_api_key()', 'PT400', 'Missing required parameter: p_key_id', 'no key'
);
select throws_ok(
  format('select public.rotate_api_key(p_key_id => %L)', gen_random_uuid()),
  'PT404', 'API key not found', 'an unknown key'
);
select pg_temp.act_as_user('umbrella', 'alice');
select throws_ok(
  format('select public.rotate_api_key(p_key_id => %L)', n.key_id),
  'PT404', 'API key not found', 'another tenant''s key'
) from new n;
select pg_temp.act_as_postgres();
select is(
  (
    select array_agg(e.action order by e.occurred_at)
    from logloom.audit_events e, old o, new n
    where e.subject in (o.key_id::text, n.key_id::text)
  ),
  '{
    api_key.created, api_key.created, api_key.changed, api_key.changed, api_key.changed,
    api_key.revoked
  }',
  'everything is in the audit log'
);

select * from finish();
rollback;
