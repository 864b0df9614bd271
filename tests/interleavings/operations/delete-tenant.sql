-- A tenant is deleted, and the first of its records are erased.
-- set-up
insert into interleavings.goes (why, tenant_id, must, later_too) values ('delete', 'acme', true, true);
-- operation
begin;
select set_config('request.jwt.claims', '{"role": "service_role"}', true);
select logloom_private.abolish_tenant('acme');
select interleavings.pause('commit');
commit;
begin;
select logloom_private.run_deletion_step();
select logloom_private.run_deletion_step();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.delete_all();
