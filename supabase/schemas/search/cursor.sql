-- Encrypts a cursor; the result is different each time. A tail's cursor contains the writer's
-- position, an export's cursor the queue's age. These values tell something about other tenants.
create function logloom_private.encode_cursor(p_parts text[])
returns text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant bytea := (select i.cursor_key from logloom_private.installation i);
  v_iv constant bytea := extensions.gen_random_bytes(16);
  v_text constant text := array_to_string(p_parts, ' ');
  -- Padded, so that the length of a cursor does not tell how large its numbers are.
  v_sealed constant bytea := v_iv || extensions.encrypt_iv(
    convert_to(rpad(v_text, greatest(length(v_text), 64)), 'UTF8'), sha256(v_key), v_iv, 'aes'
  );
begin
  return translate(
    encode(extensions.hmac(v_sealed, v_key, 'sha256') || v_sealed, 'base64'), e'+/=\n', '-_'
  );
end;
$$;

-- Returns the parts of a cursor, captured by a regular expression. PT400 if the cursor does not
-- match, or if another installation made it. Version 1.0.0 did not encrypt cursors. Its page
-- cursors still work, its tail cursors do not: an invented tail cursor would tell a client the
-- writer's position.
create function logloom_private.decode_cursor(p_cursor text, p_pattern text)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant bytea := (select i.cursor_key from logloom_private.installation i);
  v_bytes bytea;
  v_is_sealed boolean;
  v_text text;
  v_parts text[];
begin
  begin
    v_bytes := decode(
      rpad(translate(p_cursor, '-_', '+/'), (length(p_cursor) + 3) / 4 * 4, '='), 'base64'
    );
    v_is_sealed := substr(v_bytes, 1, 32) = extensions.hmac(substr(v_bytes, 33), v_key, 'sha256');
    if v_is_sealed then
      v_bytes :=
        extensions.decrypt_iv(substr(v_bytes, 49), sha256(v_key), substr(v_bytes, 33, 16), 'aes');
    end if;
    v_text := rtrim(convert_from(v_bytes, 'UTF8'));
  exception when data_exception then
    v_text := null;
  end;
  if not v_is_sealed and starts_with(v_text, 'tail ') then
    perform logloom_private.refuse('search.cursor_is_outdated');
  end if;
  v_parts := regexp_match(v_text, p_pattern);
  if v_parts is null then
    perform logloom_private.refuse('search.cursor_is_invalid');
  end if;
  return v_parts;
end;
$$;

create type logloom_private.page_cursor as (
  "order" text,
  ts timestamptz,
  id uuid,
  ts_from timestamptz,
  ts_to timestamptz,
  "now" timestamptz,
  records_left integer,
  received_before timestamptz
);

comment on type logloom_private.page_cursor is
  'The position where a page begins: after the record (ts, id), in the order asc or desc. ts_from, '
  'ts_to and now come from the first page: later pages have the same range. records_left: how many '
  'records the query''s limit leaves from this page on. received_before: an export returns only '
  'records received before it began.';

create function logloom_private.encode_page_cursor(p_cursor logloom_private.page_cursor)
returns text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_microseconds constant bigint[] := array(
    select (extract(epoch from t) * 1000000)::bigint
    from unnest(array[
      p_cursor.ts, p_cursor.ts_from, p_cursor.ts_to, p_cursor."now", p_cursor.received_before
    ]) t
  );
begin
  return logloom_private.encode_cursor(
    array['page', p_cursor."order"] || v_microseconds[1:4]::text[]
      || array[p_cursor.id::text, p_cursor.records_left::text, 'w' || v_microseconds[5]]
  );
end;
$$;

-- Returns a cursor of nulls for null.
create function logloom_private.decode_page_cursor(p_cursor text)
returns logloom_private.page_cursor
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts constant text[] := case when p_cursor is not null then logloom_private.decode_cursor(
    p_cursor,
    '^page (desc|asc) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18})'
      || ' ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?: (\d{1,6}))?(?: w(\d{1,18}))?$'
  ) end;
  v_times constant timestamptz[] := array(
    select 'epoch'::timestamptz + (m || ' microseconds')::interval
    from unnest(v_parts[2:5] || v_parts[8]) m
  );
begin
  return row(
    v_parts[1], v_times[1], v_parts[6], v_times[2], v_times[3], v_times[4], v_parts[7], v_times[5]
  )::logloom_private.page_cursor;
end;
$$;
