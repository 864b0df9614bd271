-- What the last verification came to, in a sentence.
create function logloom_private.last_verification()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select format(
      '%s blocks and %s records were verified: %s differences', v.blocks, v.records, v.differences
    )
    from logloom_private.verifications v
    order by v.verification_id desc
    limit 1
  );
end;
$$;

-- For operators: verifies all that is stored, now and without pauses, and says what it found.
-- Changes none of it. Ended in the middle it goes on there when called again. No set clause: such a
-- procedure could not commit.
create procedure logloom_private.verify()
language plpgsql
as $$
declare
  v_summary pg_catalog.text;
begin
  while logloom_private.verify_on() loop
    commit;
  end loop;
  commit;
  v_summary := logloom_private.last_verification();
  raise notice '%', v_summary;
end;
$$;

comment on procedure logloom_private.verify() is
  'Verifies all that is stored: blocks by checksum and decoding, counts against records, ids, '
  'files of the archive against what was archived. Says what it found in a notice; '
  'verification_differences has the details. Can be ended and called again.';
