-- An erasure on request deletes records of a day: first rows, then records in blocks.
-- set-up
insert into logloom.retention_runs (
  tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to
)
values (
  'acme', 'erasure', 'queued', 'ann', clock_timestamp(), 'msg:secret',
  logloom_private.day_start(interleavings.day('sealed')),
  logloom_private.day_start(interleavings.day('sealed') + 1)
);
insert into interleavings.goes (why, tenant_id, day, pattern, must)
select 'erase', s.tenant_id, s.day, s.msg, true
from interleavings.sent s
where s.msg like '%secret%' and s.day = interleavings.day('sealed');
insert into interleavings.goes (why, tenant_id, day, pattern, must)
values ('erase', 'acme', interleavings.day('sealed'), '%secret%', false);
-- operation
begin;
select logloom_private.run_deletion_step();
select logloom_private.run_deletion_step();
select interleavings.pause('commit');
commit;
begin;
select logloom_private.run_deletion_step();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.delete_all();
