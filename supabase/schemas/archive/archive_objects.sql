-- Returns a tenant's id as a part of an object's key. Every store accepts letters, digits, _, @, -
-- and a dot that is not the first character. Other characters become ! and the hex of their bytes,
-- because Supabase Storage refuses % and ~. If the result is too long, it becomes !! and a digest.
create function logloom_private.archive_tenant_name(p_tenant_id text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := (
    select string_agg(
      case
        when c.letter ~ '^[A-Za-z0-9_@-]$' or c.letter = '.' and c.n > 1 then c.letter
        else upper(regexp_replace(encode(convert_to(c.letter, 'UTF8'), 'hex'), '(..)', '!\1', 'g'))
      end,
      '' order by c.n
    )
    from regexp_split_to_table(p_tenant_id, '') with ordinality c (letter, n)
  );
begin
  if length(v_name) > 500 then
    return '!!' || encode(sha256(convert_to(p_tenant_id, 'UTF8')), 'hex');
  end if;
  return v_name;
end;
$$;

-- Returns the key of a part's file in the bucket. The path has tenant and month, but no day,
-- because readers refuse files whose partition keys differ. No file has days of two months.
create function logloom_private.archive_key(p_part logloom.archive_parts)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    '%s/v1/tenant=%s/month=%s/%s_%s_%s_%s.parquet',
    (select s.archive_prefix from logloom_private.settings s),
    logloom_private.archive_tenant_name(p_part.tenant_id), to_char(p_part.first_day, 'YYYY-MM'),
    to_char(p_part.first_day, 'YYYY-MM-DD'), to_char(p_part.last_day, 'YYYY-MM-DD'),
    p_part.part_id, p_part.generation
  );
end;
$$;

-- Returns what the function logloom-archive needs to know about a file that it reads.
create function logloom_private.archive_part_work(p_part logloom.archive_parts)
returns jsonb
language sql
stable
return jsonb_build_object(
  'tenant_id', p_part.tenant_id, 'part_id', p_part.part_id, 'key', p_part.object_key,
  'records', p_part.records, 'bytes', p_part.bytes, 'sha256', p_part.sha256,
  'first_day', p_part.first_day, 'last_day', p_part.last_day,
  'generation', p_part.generation + 1
);

create function logloom_private.discard_object(p_tenant_id text, p_object_key text, p_reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  values (p_tenant_id, p_object_key, p_reason)
  on conflict (object_key) do nothing;
end;
$$;

create function logloom_private.due_garbage()
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select g.object_key
    from logloom_private.archive_garbage g
    where g.next_attempt_at <= clock_timestamp()
    order by g.next_attempt_at, g.object_key
    limit 50
  );
end;
$$;

-- Postpones the deletion of objects that the bucket refused to delete, for example because they are
-- locked. The longer an object has been in the list, the longer is the delay.
create function logloom_private.put_off_garbage(p_keys text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  update logloom_private.archive_garbage g
  set next_attempt_at =
    v_now + least(greatest(v_now - g.noted_at, interval '1 minute'), interval '1 hour')
  where g.object_key = any (p_keys);
end;
$$;
