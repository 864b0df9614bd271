-- A file of a day is claimed, written and settled.
-- set-up
update logloom.plans set archive_days = 3650;
update logloom_private.settings set archive_bucket = 'bucket' where singleton;
update logloom_private.archive_bucket
set bucket = 'bucket', prefix = 'logloom', checked_at = now(), compared_at = now(),
  planned_at = now()
where singleton;
-- Earlier days are archived.
with parts as (
  insert into logloom.archive_parts (
    tenant_id, first_day, last_day, write_seq, object_key, status, records, bytes, sha256,
    verified_at, first_ts, last_ts
  )
  select
    s.tenant_id, s.day, s.day, 1000000, s.tenant_id || s.day, 'verified', count(*), 1, 'digest',
    now(), logloom_private.day_start(s.day), logloom_private.day_start(s.day + 1)
  from interleavings.sent s
  where s.day in (interleavings.day('dropped'), interleavings.day('expired'))
    and exists (select from logloom.logs l where l.msg = s.msg)
  group by s.tenant_id, s.day
  returning part_id, tenant_id, first_day
), days as (
  insert into logloom_private.archived_days (tenant_id, day, write_seq)
  select p.tenant_id, p.first_day, logloom_private.last_write_seq() from parts p
)
insert into interleavings.files (part_id, msg)
select p.part_id, l.msg
from parts p
join logloom.logs l
  on l.tenant_id = p.tenant_id and l.ts >= logloom_private.day_start(p.first_day)
    and l.ts < logloom_private.day_start(p.first_day + 1);
-- Late records must be archived first.
update interleavings.goes set must = false where why = 'retention';
select logloom_private.plan_archive_pass('acme', now()) where not exists (
  select from logloom_private.archive_passes
);
-- operation
begin;
select interleavings.claim_archive();
select interleavings.pause('commit');
commit;
begin;
select interleavings.settle_archive();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.archive_all();
