-- What a local stack starts with. A hosted project gets it only by `db push --include-seed`.

insert into app.tenants (tenant_id, plan_id)
values ('demo', 'pro')
on conflict do nothing;
