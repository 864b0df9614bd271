-- Data of a local stack. A hosted project gets it only with `db push --include-seed`.

insert into logloom.tenants (tenant_id, plan_id)
values ('demo', 'pro')
on conflict do nothing;

insert into logloom.tenant_members (tenant_id, user_id, role)
values
  ('demo', '11111111-1111-4111-8111-111111111111', 'owner'),
  ('demo', '22222222-2222-4222-8222-222222222222', 'member')
on conflict do nothing;

-- Lets new users create a tenant. In a hosted project the operator decides this.
update logloom_private.settings set tenants_by_users = true where singleton;
