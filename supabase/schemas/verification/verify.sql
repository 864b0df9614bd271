-- Returns the result of the last verification as a sentence.
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

-- For operators: verifies everything stored, now and without pauses, and reports what it found.
-- Changes nothing. An interrupted verification continues when the procedure is called again. It has
-- no set clause, because with one it could not commit.
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
  'Verifies everything stored: blocks by checksum and decoding, counts against records, ids, '
  'files of the archive against archived records. Reports the result in a notice; details are in '
  'verification_differences. Can be interrupted and called again.';
