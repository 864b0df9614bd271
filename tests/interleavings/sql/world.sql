-- Makes a small world in which every operation has something to do: few records on few days, some
-- sealed, and a list of the acknowledged events.

create table interleavings.sent (
  msg text primary key,
  tenant_id text not null,
  day date not null,
  -- True if the world or a set-up sent it, not an operation.
  was_before boolean not null
);

comment on table interleavings.sent is
  'Acknowledged events, noted in the transaction that enqueues them.';

create table interleavings.goes (
  why text not null,
  tenant_id text not null,
  day date,
  pattern text not null default '%',
  -- True: all records that existed before must be gone at the end; false: they may be gone.
  -- later_too: records that were added later as well.
  must boolean not null,
  later_too boolean not null default false
);

comment on table interleavings.goes is
  'The records that an operation deletes.';

create table interleavings.began as select (now() at time zone 'UTC')::date as day;

comment on table interleavings.began is
  'The day of the world, so that it stays the same over midnight.';

create function interleavings.day(p_name text)
returns date
language plpgsql
as $$
begin
  return (select b.day from interleavings.began b) - case p_name
    -- A day that no tenant keeps.
    when 'dropped' then 40
    -- A day that one tenant keeps.
    when 'expired' then 38
    -- A day without a partition.
    when 'missing' then 5
    -- A past day that is partly sealed.
    when 'sealed' then 3
    when 'today' then 0
  end;
end;
$$;

-- Adds a batch like an accepted request. p_messages[i] gets a ts on the day p_days[i].
create function interleavings.send(p_tenant_id text, p_days text[], p_messages text[])
returns void
language plpgsql
as $$
declare
  v_state logloom_private.ingest_state;
  v_request logloom_private.ingest_request;
begin
  v_state.tenant_id := p_tenant_id;
  v_state.max_record_bytes := 1000000;
  v_state.max_record_values := 100000;
  v_request.p_bytes := 100;
  v_request.p_msg := p_messages;
  v_request.p_level := array(select 'info' from unnest(p_messages));
  v_request.p_service := array(select (array['api', 'web'])[1 + n % 2] from generate_subscripts(
    p_messages, 1
  ) n);
  v_request.p_ts := array(
    select
      logloom_private.day_start(interleavings.day(d.name)) + d.n * interval '1 second'
      + case d.name when 'today' then interval '0' else interval '1 hour' end
    from unnest(p_days) with ordinality d (name, n)
    order by d.n
  );
  perform logloom_private.enqueue(v_state, v_request);
  insert into interleavings.sent (msg, tenant_id, day, was_before)
  select m.msg, p_tenant_id, interleavings.day(m.day), interleavings.side() = ''
  from unnest(p_days, p_messages) m (day, msg);
end;
$$;

-- Moves everything that is queued.
create function interleavings.write_all()
returns void
language plpgsql
as $$
begin
  loop
    while logloom_private.write_step() > 0 loop
      null;
    end loop;
    exit when not logloom_private.flip_queue();
  end loop;
end;
$$;

update logloom_private.settings
set seal_day_records = 3, seal_block_records = 3, seal_week_records = 2,
  -- Longer than the tester's steps, but shorter than deadlock_timeout, as on any server: a session
  -- that drops a partition gives up before PostgreSQL detects a deadlock.
  partition_drop_lock_timeout = '700 milliseconds', provision_by_secret_key = true;
create or replace function logloom_private.enqueue_wait()
returns interval
language sql
immutable
return interval '1 minute';
delete from logloom_private.retention_place where true;
update logloom.plans set retention_days_default = 30, retention_days_max = 400;
insert into logloom.tenants (tenant_id, plan_id)
values ('acme', 'pro'), ('umbrella', 'pro'), ('keeper', 'pro');
insert into logloom.tenant_settings (tenant_id, retention_days) values ('keeper', 300);

select interleavings.send('acme', '{sealed,sealed,sealed}',
'{in block 1,in block secret,in block 3}');
select interleavings.write_all();
select logloom_private.seal_block('acme', array[interleavings.day('sealed')]);
select
  interleavings.send(
    'acme', '{dropped,expired,expired,sealed,sealed,sealed,sealed,today}',
    '{dropped 1,expired 1,expired 2,row 1,row secret,row 3,row 4,today 1}'
  ),
  interleavings.send('umbrella', '{dropped,sealed}', '{umbrella dropped,umbrella row}'),
  interleavings.send('keeper', '{expired,sealed}', '{keeper expired,keeper row}');
select interleavings.write_all();

-- The sealed day was checked long ago, so it is due; the others are not.
insert into logloom_private.sealing_days as d (day, checked_at)
select
  p,
  case when p = interleavings.day('sealed') then '-infinity' else 'infinity' end::timestamptz
from unnest(logloom_private.partition_days()) p
on conflict (day) do update set checked_at = excluded.checked_at, checked_through = null;

-- Finishes all deletions.
create function interleavings.delete_all()
returns void
language plpgsql
as $$
begin
  -- A minute has passed, so running requests have ended.
  update logloom_private.tenant_deletions d
  set requested_at = d.requested_at - interval '2 minutes'
  where d.finished_at is null;
  for i in 1..60 loop
    exit when logloom_private.run_deletion_step() is null;
  end loop;
end;
$$;

-- Finishes the day's retention.
create function interleavings.retain_all()
returns void
language plpgsql
as $$
begin
  for i in 1..60 loop
    exit when logloom_private.retention_step() is null;
  end loop;
end;
$$;

-- Log streams

create table interleavings.batches (
  side text primary key,
  stream_id uuid not null,
  claim_id uuid not null,
  batch_id uuid,
  messages text[]
);
create table interleavings.delivered (batch_id uuid not null, msg text not null);

comment on table interleavings.batches is
  'What each side of logloom-stream has claimed and read.';
comment on table interleavings.delivered is
  'What the receiver has got.';

create function interleavings.make_stream()
returns void
language plpgsql
as $$
begin
  insert into logloom.log_streams (
    tenant_id, name, kind, config, position_seq, kept_day, pending_since
  )
  select
    'acme', 's', 'webhook',
    '{"url": "https://example.com/"}', 1, interleavings.day('dropped'), now()
  where not exists (select from logloom.log_streams);
  update logloom_private.stream_round set noted_through = logloom_private.last_write_seq()
  where singleton;
end;
$$;

create function interleavings.claim_stream()
returns void
language plpgsql
as $$
begin
  delete from interleavings.batches b where b.side = interleavings.side();
  insert into interleavings.batches (side, stream_id, claim_id)
  select interleavings.side(), c.stream_id, c.claim_id
  from logloom_private.claim_due_streams(1) c;
end;
$$;

create function interleavings.read_stream()
returns void
language plpgsql
as $$
declare
  v_claim interleavings.batches;
  v_batch jsonb;
begin
  select b.* into v_claim from interleavings.batches b where b.side = interleavings.side();
  v_batch := logloom_private.next_stream_batch(v_claim.stream_id, v_claim.claim_id);
  update interleavings.batches b
  set batch_id = (v_batch -> 'batch' ->> 'batch_id')::uuid,
    messages = array(select r ->> 'msg' from jsonb_array_elements(v_batch -> 'records') r)
  where b.side = interleavings.side();
end;
$$;

-- The receiver gets the batch, whatever happens to the settlement.
create function interleavings.settle_stream(p_side text)
returns void
language plpgsql
as $$
declare
  v_batch interleavings.batches;
begin
  select b.* into v_batch from interleavings.batches b where b.side = p_side;
  insert into interleavings.delivered (batch_id, msg)
  select v_batch.batch_id, m from unnest(v_batch.messages) m where v_batch.batch_id is not null;
  perform logloom_private.settle_stream_batch(
    v_batch.stream_id, v_batch.claim_id, v_batch.batch_id, 'delivered', 200, null, null, '[]', 0,
    null, true, null
  );
end;
$$;

-- Expires all claims, then sends everything that waits.
create function interleavings.send_all()
returns void
language plpgsql
as $$
begin
  update logloom.log_streams set claimed_until = now() - interval '1 second' where claim_id is not null;
  for i in 1..20 loop
    perform logloom_private.note_new_writes();
    update logloom.log_streams set next_attempt_at = now() where true;
    perform interleavings.claim_stream();
    exit when not exists (select from interleavings.batches b where b.side = '');
    perform interleavings.read_stream();
    if (select b.batch_id is not null from interleavings.batches b where b.side = '') then
      perform interleavings.settle_stream('');
    end if;
  end loop;
end;
$$;

-- The archive

create table interleavings.archive_work (side text primary key, work jsonb);
create table interleavings.files (part_id uuid not null, msg text not null);

comment on table interleavings.files is
  'The content of the files in the bucket.';

create function interleavings.claim_archive()
returns void
language plpgsql
as $$
begin
  delete from interleavings.archive_work w where w.side = interleavings.side();
  insert into interleavings.archive_work (side, work)
  select interleavings.side(), logloom_private.claim_archive_work() -> 'work';
end;
$$;

create function interleavings.settle_archive()
returns void
language plpgsql
as $$
declare
  v_work constant jsonb := (
    select w.work from interleavings.archive_work w where w.side = interleavings.side()
  );
begin
  if v_work ->> 'kind' = 'write' then
    delete from interleavings.files f where f.part_id = (v_work ->> 'part_id')::uuid;
    insert into interleavings.files (part_id, msg)
    select (v_work ->> 'part_id')::uuid, m
    from jsonb_array_elements_text(v_work -> 'columns' -> 'msg') m;
    perform logloom_private.settle_archive_work(
      (v_work ->> 'claim_id')::uuid, null,
      jsonb_build_object(
        'records', (v_work ->> 'records')::integer, 'bytes', 1000, 'sha256', 'digest'
      ),
      '[]'
    );
  elsif v_work ->> 'kind' = 'delete' then
    perform logloom_private.settle_archive_work(
      (v_work ->> 'claim_id')::uuid, null,
      jsonb_build_object('deleted', v_work -> 'keys', 'left', '[]'::jsonb), '[]'
    );
  end if;
end;
$$;

-- Does all due work of the archive; earlier claims have expired. Erasures of files are not
-- simulated.
create function interleavings.archive_all()
returns void
language plpgsql
as $$
begin
  update logloom_private.archive_claims set expires_at = now() - interval '1 second' where true;
  update logloom_private.archive_passes set next_attempt_at = now() where true;
  for i in 1..20 loop
    perform interleavings.claim_archive();
    exit when not exists (
      select from interleavings.archive_work w
      where w.side = '' and w.work ->> 'kind' in ('write', 'delete')
    );
    perform interleavings.settle_archive();
    update logloom_private.archive_passes set next_attempt_at = now() where true;
  end loop;
end;
$$;
