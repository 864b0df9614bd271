-- p_buckets, or how many there are where none are named. PT400 when out of bounds.
create function logloom_private.require_buckets(p_buckets integer)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  if p_buckets not between 1 and v_settings.search_buckets_max then
    perform logloom_private.refuse(
      'search.buckets_are_out_of_range', v_settings.search_buckets_max::text
    );
  end if;
  return coalesce(p_buckets, v_settings.search_buckets_default);
end;
$$;
