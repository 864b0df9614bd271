-- If a project exposes the schema logloom, its tables allow a member no more than the operations
-- do.
begin;
\ir ../actors.psql
select plan(11);

insert into logloom.tenants (tenant_id, plan_id)
values ('acme', 'free'), ('umbrella', 'free'), ('alone', 'free');
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', 'ann', 'owner'), ('acme', 'abe', 'admin'), ('acme', 'mia', 'member');
insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest, revoked_at)
values ('acme', 'old', 'll_12345678', sha256('old'), now());
insert into logloom.tenant_settings (tenant_id, retention_days) values ('acme', 1);

create function pg_temp.by(p_tenant_id text, p_user_id text, p_statement text)
returns text
language plpgsql
as $$
declare
  v_rows bigint;
begin
  perform pg_temp.act_as_user(p_tenant_id, p_user_id);
  begin
    execute p_statement;
    get diagnostics v_rows = row_count;
  exception when others then
    perform pg_temp.act_as_postgres();
    return sqlstate;
  end;
  perform pg_temp.act_as_postgres();
  return v_rows;
end;
$$;
create function pg_temp.key_of(p_tenant_id text)
returns text
language sql
as $$
  select format(
    'insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest, scopes) '
      'values (%L, ''k'', ''ll_12345678'', sha256(gen_random_uuid()::text::bytea), ''{read}'')',
    p_tenant_id
  )
$$;

select is(pg_temp.by(c.tenant_id, c.user_id, c.statement), c.answer, c.name)
from (
  values
    ('acme', 'mia', pg_temp.key_of('acme'), '42501', 'a member cannot create a key'),
    ('acme', 'abe', pg_temp.key_of('acme'), '1', 'an admin can'),
    ('acme', 'abe', pg_temp.key_of('umbrella'), '42501', 'but not for another tenant'),
    ('alone', 'tom', pg_temp.key_of('alone'), '1', 'without roles every user can'),
    ('acme', 'mia', 'update logloom.api_keys k set revoked_at = null where true', '0',
      'a member cannot reactivate a revoked key'),
    ('acme', 'abe', 'update logloom.api_keys k set expires_at = now() where true', '2',
      'an admin can change the keys of the tenant'),
    ('acme', 'mia', 'update logloom.tenant_settings s set retention_days = 2 where true', '0',
      'a member cannot change settings'),
    ('acme', 'ann', 'update logloom.tenant_settings s set retention_days = 2 where true', '1',
      'an owner can'),
    ('umbrella', 'ann', 'insert into logloom.tenant_settings (tenant_id) values (''umbrella'')',
      '1', 'an owner can set settings of their tenant'),
    ('acme', 'ann', 'insert into logloom.tenant_settings (tenant_id) values (''alone'')', '42501',
      'but not of another tenant')
) c (tenant_id, user_id, statement, answer, name);
update logloom_private.settings set writing_clients = '{}';
select pg_temp.act_as('authenticated', jsonb_build_object(
  'role', 'authenticated', 'tenant_id', 'acme', 'sub', 'ann', 'client_id', 'c'
)) \g /dev/null
select is(
  left(pg_temp.attempt(pg_temp.key_of('acme')), 5), '42501',
  'an OAuth client of an owner cannot create a key'
);

select * from finish();
rollback;
