begin;
select plan(3);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest)
values ('acme', 'live', 'll_aaaaaaaa', sha256('live'));

prepare use_key as
select logloom_private.authenticate_sender(null, encode(sha256('live'), 'hex'), null);

execute use_key;
select is((select last_used_at from logloom.api_keys), now(), 'the first use is noted');

update logloom.api_keys set last_used_at = date_trunc('minute', now());
execute use_key;
select is(
  (select last_used_at from logloom.api_keys),
  date_trunc('minute', now()), 'a use in the same minute changes nothing'
);

update logloom.api_keys set last_used_at = date_trunc('minute', now()) - interval '1 millisecond';
execute use_key;
select is((select last_used_at from logloom.api_keys), now(), 'a use in a later minute is noted');

select * from finish();
rollback;
