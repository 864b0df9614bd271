-- Returns the URL of the calling edge function's project, from its header. Null if the function is
-- of release 1.0.0, or if the call does not come by HTTP.
create function logloom_private.calling_project()
returns text
language sql
stable
return nullif(current_setting('request.headers', true), '')::json ->> 'x-logloom-project';

-- Raises PT409 if the calling edge function belongs to another project. This database is then a
-- copy, and the original does the work. The first project whose function calls is our own.
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

-- The origin of a URL: scheme, host and port.
create function logloom_private.origin_of(p_url text)
returns text
language sql
immutable
return regexp_replace(
  regexp_replace(lower(substring(p_url from '^[^/]*//[^/?#]*')), '^(https://.*):443$', '\1'),
  '^(http://.*):80$', '\1'
);

-- Calls an edge function. The function authenticates the caller by a secret in a header and answers
-- 202 at once. Does not wait for the answer, unless the project has no pg_net.
create function logloom_private.call_function(p_url text, p_header text, p_secret text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using p_url, jsonb_build_object('Content-Type', 'application/json', p_header, p_secret);
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', p_url, array[extensions.http_header(p_header, p_secret)], 'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function % answered %', substring(p_url from '[^/]+/?$'), v_status;
  end if;
end;
$$;
