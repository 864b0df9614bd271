-- Letter case where one letter has two small forms: a sigma at the end of a word is written
-- otherwise. In rows and in sealed blocks alike.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(24);

create temp table times as
select logloom_private.day_start(logloom_private.utc_day(now()) - 1) as day;
grant select on times to public;
select pg_temp.send_request(
  p_tenant_id => 'acme',
  p_ts => array(select t.day + n * interval '1 s' from times t, generate_series(1, 4) n),
  p_msg => array['η οδός ΣΟΦΟΣ', 'η οδός σοφος', 'η οδός σοφοσ', 'nothing'],
  p_attrs => array[
    '{"name": "ΣΟΦΟΣ"}', '{"name": "σοφος"}', '{"name": "σοφοσ"}', '{"name": "sofos"}'
  ]::jsonb[]
);
select logloom_private.flip_queue();
select logloom_private.write_step();

create function pg_temp.found(p_query text) returns bigint[] language plpgsql as $$
declare
  v_found bigint[];
begin
  perform pg_temp.act_as_user('acme', 'alice');
  v_found := array(
    select extract(epoch from l.ts - t.day)::bigint
    from times t, public.search_logs(p_query, p_ts_from => 'now-3d') s, unnest(s.logs) l
    order by l.ts
  );
  reset role;
  return v_found;
end;
$$;

create temp table asked (n integer, query text, found bigint[]);
insert into asked values
  (1, 'σοφος', '{1,2,3}'),
  (2, 'σοφοσ', '{1,2,3}'),
  (3, 'ΣΟΦΟΣ', '{1,2,3}'),
  (4, 'msg:w=σοφοσ', '{1,2,3}'),
  (5, 'msg:~"(?i)ΣΟΦ[α-ο][π-ς]$"', '{1,2,3}'),
  (6, 'msg:~"(?i)σοφο[^ς]"', '{}'),
  (7, 'any:σοφος', '{1,2,3}'),
  (8, '@name:i=ΣΟΦΟΣ', '{1,2,3}'),
  (9, '@name:σοφος', '{2}'),
  (10, 'msg:~"σοφος"', '{2}'),
  (11, 'msg:="η οδός σοφος"', '{2}');
select is(pg_temp.found(a.query), a.found, a.query || ' over rows') from asked a order by a.n;

select logloom_private.seal_block(
  'acme', array[(select logloom_private.utc_day(t.day) from times t)]
);
select is((select count(*)::integer from logloom.logs l where l.tenant_id = 'acme'), 0, 'sealed');
select is(pg_temp.found(a.query), a.found, a.query || ' over a sealed block')
from asked a order by a.n;
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select s.value from public.log_stats('σοφοσ | count()', p_ts_from => 'now-3d') s),
  3::double precision,
  'what blocks count by their templates'
);

select * from finish();
rollback;
