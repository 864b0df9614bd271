-- A tenant is deleted, and the first of its records are erased.
-- set-up
-- operation
begin;
insert into interleavings.goes (why, tenant_id, must, later_too) values ('delete', 'acme', true, true);
set local role service_role;
select set_config(
  'request.jwt.claims', '{"role": "service_role", "exp": 4102444800, "tenant_id": "acme"}', true
);
select public.delete_tenant('acme');
select interleavings.pause('commit');
commit;
begin;
select logloom_private.run_deletion_step();
select logloom_private.run_deletion_step();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.delete_all();
