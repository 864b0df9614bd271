-- Whether this database is read-only. Also checks the default for new transactions: PostgREST
-- begins read-write transactions in any case.
create function logloom_private.is_read_only()
returns boolean
language sql
stable
return 'on' in (
  current_setting('transaction_read_only'), current_setting('default_transaction_read_only')
);
