-- The functions of logloom_private that have another body where records are sharded: the one of the
-- same name here.
create function logloom_citus.seams()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array[
    'after_migration()', 'expired_days(text[],date,integer)', 'forget_tenants_day(text[],date)',
    'hold_writers()', 'insert_records(smallint,bigint,bigint,integer,integer,bigint)',
    'last_sealed()', 'packed_counts_sql(text,timestamptz,timestamptz)', 'read_page(text)',
    'reads_again(text,text)', 'reads_sealed(text,timestamptz,timestamptz)',
    'scanned_tenant_sql(text)', 'sum_counts(integer)'
  ];
end;
$$;

-- Puts the bodies of this layer in place of the core's, which it keeps; once more after a migration
-- has brought some of the core's anew.
create function logloom_citus.replace_bodies()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_signature text;
  v_core regprocedure;
  v_is text;
  v_body text;
begin
  foreach v_signature in array logloom_citus.seams() loop
    v_core := to_regprocedure('logloom_private.' || v_signature);
    if v_core is null then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('logloom_private.%s is not there to be replaced', v_signature),
        hint = 'Run citus/install.psql of the same version as the migrations.';
    end if;
    v_body := regexp_replace(
      pg_get_functiondef(to_regprocedure('logloom_citus.' || v_signature)),
      '^CREATE OR REPLACE FUNCTION logloom_citus\.', 'CREATE OR REPLACE FUNCTION logloom_private.'
    );
    v_is := pg_get_functiondef(v_core);
    continue when v_is = v_body;
    -- What an earlier version of this layer put there is not the core's.
    insert into logloom_citus.core_bodies as b (signature, core, replaced_by)
    values (v_signature, v_is, v_body)
    on conflict (signature) do update
    set core = case when b.replaced_by = v_is then b.core else v_is end,
      replaced_by = excluded.replaced_by;
    execute v_body;
  end loop;
end;
$$;

-- Puts the core's bodies back.
create function logloom_citus.put_bodies_back()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_definition text;
begin
  for v_definition in select b.core from logloom_citus.core_bodies b loop
    execute v_definition;
  end loop;
  delete from logloom_citus.core_bodies b where true;
end;
$$;
