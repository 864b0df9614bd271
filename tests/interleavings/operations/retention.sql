-- Retention deletes one tenant's rows and block of a day. Another tenant keeps this day. The other
-- operations seal, erase and archive this day.
-- set-up
insert into logloom.tenant_settings (tenant_id, retention_days) values ('acme', 2)
on conflict (tenant_id) do update set retention_days = excluded.retention_days;
insert into logloom_private.retention_place (today, spans_through, done_through, day, tenant_through)
values (
  interleavings.day('today'), null, interleavings.day('sealed') - 1, interleavings.day('sealed'), ''
)
on conflict do nothing;
insert into interleavings.goes (why, tenant_id, day, pattern, must)
select 'retention', s.tenant_id, s.day, s.msg, true
from interleavings.sent s
where s.tenant_id = 'acme' and s.day = interleavings.day('sealed');
-- Later records may be deleted or not.
insert into interleavings.goes (why, tenant_id, day, must)
values ('retention', 'acme', interleavings.day('sealed'), false);
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
