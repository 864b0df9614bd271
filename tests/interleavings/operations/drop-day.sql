-- Retention drops the partition of a day that nobody keeps. The day is partly sealed.
-- set-up
insert into logloom.tenant_settings (tenant_id, retention_days)
values ('acme', 2), ('umbrella', 2), ('keeper', 2)
on conflict (tenant_id) do update set retention_days = excluded.retention_days;
insert into logloom_private.retention_place (today, spans_through, done_through)
values (interleavings.day('today'), null, interleavings.day('sealed') - 1)
on conflict (singleton) do update
set done_through = excluded.done_through, day = null, tenant_through = null;
insert into interleavings.goes (why, tenant_id, day, pattern, must)
select 'retention', s.tenant_id, s.day, s.msg, true
from interleavings.sent s
where s.day = interleavings.day('sealed');
insert into interleavings.goes (why, tenant_id, day, must)
select 'retention', t.tenant_id, interleavings.day('sealed'), false
from logloom.tenants t;
-- operation
begin;
select logloom_private.retention_step();
select interleavings.pause('commit');
commit;
begin;
select logloom_private.retention_step();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.retain_all();
