-- Returns the URL of the calling edge function's project, from its header. Null if the function is
-- of release 1.0.0, or if the call does not come by HTTP.
create function logloom_private.calling_project()
returns text
language sql
stable
return nullif(current_setting('request.headers', true), '')::json ->> 'x-logloom-project';

-- Raises PT409 if the calling edge function belongs to another project: this database is then a
-- copy, and the original does the work. Our own project is the one whose function calls first.
create function logloom_private.require_own_project()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_calling constant text := logloom_private.calling_project();
  v_own text;
begin
  if v_calling is null then
    return;
  end if;
  update logloom_private.installation i set project_url = v_calling where i.project_url is null;
  select i.project_url into v_own from logloom_private.installation i;
  if v_own <> v_calling then
    perform logloom_private.refuse('callers.project_is_another', v_own, v_calling);
  end if;
end;
$$;

-- Notes whether the calling function belongs to another project. Health and the canary read this
-- later.
create function logloom_private.note_project()
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes to the installation
declare
  v_calling constant text := logloom_private.calling_project();
begin
  -- A replica cannot write.
  if v_calling is not null and current_setting('transaction_read_only') = 'off' then
    update logloom_private.installation i
    set other_url = nullif(v_calling, coalesce(i.project_url, v_calling))
    where i.other_url is distinct from nullif(v_calling, coalesce(i.project_url, v_calling));
  end if;
end;
$$;

-- Whether this database is a physical copy and begin_anew() was not called yet.
create function logloom_private.is_copied()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from logloom_private.installation i where i.other_url <> i.project_url
  );
end;
$$;

-- Whether this database was restored from a dump and repair() was not called yet.
create function logloom_private.is_restored()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.installation i
    where i.own_oid <> 'logloom_private.installation'::regclass
  );
end;
$$;
