-- Calls the pre-request function that the project had before; adopt_pre_request() writes it.
-- Without a set clause: that function sees and sets what the request has.
create function logloom_private.call_host_pre_request()
returns void
language plpgsql
as $$
begin
  null;
end;
$$;
