begin;
\ir ../actors.psql
\ir ../search/records.psql
set local logloom_test.sealed = 'all';
\ir scoped_reads.psql
