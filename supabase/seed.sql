-- What a local stack starts with. A hosted project gets it only by `db push --include-seed`.

insert into logloom.tenants (tenant_id, plan_id)
values ('demo', 'pro')
on conflict do nothing;

insert into logloom.tenant_members (tenant_id, user_id, role)
values
  ('demo', '11111111-1111-4111-8111-111111111111', 'owner'),
  ('demo', '22222222-2222-4222-8222-222222222222', 'member')
on conflict do nothing;

-- Who signs up may make a tenant: hosted, that is for whoever runs the project to switch on.
update logloom_private.settings set tenants_by_users = true where singleton;
