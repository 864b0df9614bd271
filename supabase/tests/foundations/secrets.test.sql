-- Secrets of receivers must be sealed, and are never shown.
begin;
select plan(9);

create function pg_temp.changed(p_current jsonb, p_secrets jsonb)
returns text
language plpgsql
as $$
begin
  return logloom_private.changed_secrets(p_current, p_secrets, '{token,header.*}')::text;
exception when others then
  return sqlstate || ' ' || sqlerrm;
end;
$$;

create temp table sealed as
select 'lls1.abcd-_09.' || repeat('x', 40) as a, 'lls1.abcd-_10.' || repeat('y', 40) as b;

select is(
  pg_temp.changed('{}', jsonb_build_object('token', a, 'header.x-team', b))::jsonb,
  jsonb_build_object('token', a, 'header.x-team', b), 'sealed texts are accepted'
) from sealed;
select is(
  pg_temp.changed(jsonb_build_object('token', a), jsonb_build_object('header.x-team', b))::jsonb,
  jsonb_build_object('token', a, 'header.x-team', b), 'other secrets stay'
) from sealed;
select is(
  pg_temp.changed(jsonb_build_object('token', a), '{"token": null}'), '{}', 'null removes a secret'
) from sealed;
select is(
  pg_temp.changed(jsonb_build_object('token', a), null)::jsonb, jsonb_build_object('token', a),
  'null for all changes nothing'
) from sealed;
select is(
  pg_temp.changed('{}', '[]'),
  'PT400 Invalid p_secrets: an object of names and sealed texts', 'only an object is accepted'
);
select is(
  pg_temp.changed('{}', jsonb_build_object('password', a)),
  'PT400 Invalid p_secrets: there is no secret password', 'unknown names are refused'
) from sealed;
select is(
  pg_temp.changed('{}', '{"token": "s3cret"}'), 'PT400 Invalid p_secrets: token is not sealed',
  'plain text is refused and not repeated'
);
select is(
  pg_temp.changed('{}', '{"token": {"set": true}}'),
  'PT400 Invalid p_secrets: token is not sealed', 'the form that lists show is not accepted'
);
select is(
  logloom_private.shown_secrets(jsonb_build_object('token', a, 'header.x-team', b)),
  '{"token": {"set": true}, "header.x-team": {"set": true}}', 'only that they are set is shown'
) from sealed;

select * from finish();
rollback;
