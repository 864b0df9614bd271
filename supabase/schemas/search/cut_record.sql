-- What an answer has of a record that is larger than a page: the beginnings of its texts, and in
-- attrs.logloom_cut how many bytes it has.
create function logloom_private.cut_record(p_log public.logloom_log_record, p_size bigint)
returns public.logloom_log_record
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  p_log.msg := left(p_log.msg, 100000);
  -- fields text but level, msg: p_log.{name} := left(p_log.{name}, 10000);
  p_log.service := left(p_log.service, 10000);
  p_log.env := left(p_log.env, 10000);
  p_log.req_id := left(p_log.req_id, 10000);
  p_log.user_id := left(p_log.user_id, 10000);
  p_log.route := left(p_log.route, 10000);
  p_log.host := left(p_log.host, 10000);
  -- fields end
  p_log.attrs := jsonb_build_object('logloom_cut', jsonb_build_object('attrs', p_size));
  return p_log;
end;
$$;
