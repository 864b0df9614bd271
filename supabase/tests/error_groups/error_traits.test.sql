begin;
select plan(4);

-- The place of a stack trace in each language: own frames without lines, builds and addresses.
select results_eq(
  $$select v.n, logloom_private.error_place(v.stack)
    from (
      values
        (1, E'TypeError: x\n    at pay (/app/src/pay.ts:10:5)\n    at node:internal/timers:5:3\n'
          '    at Object.<anonymous> (/app/node_modules/pg/lib/client.js:1:2)\n'
          '    at async main (file:///app/src/main.ts:2:1)'),
        (2, E'Traceback (most recent call last):\n  File "/app/main.py", line 3, in <module>\n'
          '    run()\n  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\n'
          'ValueError: bad'),
        (3, E'java.lang.IllegalStateException: no\n\tat java.util.ArrayList.get(ArrayList.java:4)\n'
          '\tat com.acme.Pay.charge(Pay.java:17)\n\t... 3 more'),
        (4, E'panic: boom\n\ngoroutine 1 [running]:\nmain.pay(0x1)\n\t/src/pay.go:7 +0x1d\n'
          'runtime.main()\n\t/usr/local/go/src/runtime/proc.go:250 +0x1'),
        (5, E'app/pay.rb:4:in `charge''\n/gems/rack-2/lib/rack.rb:9:in `call'''),
        (6, E'PHP Fatal error: no\n#0 /var/www/pay.php(12): charge(1)\n'
          '#1 /var/www/vendor/x/y.php(3): z()'),
        (7, E'System.Exception: no\n   at Acme.Pay.Charge(Int32 n) in /src/Pay.cs:line 12\n'
          '   at System.Threading.Tasks.Task.Run()'),
        (8, E'Error: x\n    at c (https://acme.com/assets/main-4f9d1a2b.js?v=3:1:90210)'),
        (9, E'Error: x\n    at node:internal/timers:5:3'),
        (10, E'first line\nsecond line'),
        (11, null)
    ) v (n, stack)$$,
  $$values
    (1, E'at pay (/app/src/pay.ts)\nat async main (file:///app/src/main.ts)'),
    (2, 'File "/app/main.py", in <module>'),
    (3, 'at com.acme.Pay.charge(Pay.java)'),
    (4, '/src/pay.go'),
    (5, 'app/pay.rb:in `charge'''),
    (6, '/var/www/pay.php: charge'),
    (7, 'at Acme.Pay.Charge(Int n) in /src/Pay.cs:line'),
    (8, 'at c (https://acme.com/assets/main.js)'),
    (9, 'at node:internal/timers'),
    (10, null), (11, null)$$,
  'the place has the first own frames'
);

select results_eq(
  $$select v.n, logloom_private.error_type(v.msg, v.attrs),
      logloom_private.error_stack(v.msg, v.attrs), logloom_private.release_of(v.attrs),
      logloom_private.error_user(v.user_id, v.attrs) is not null
    from (
      values
        (1, 'no', '{"error": {"type": "E1", "stack": "s1"}, "release": "r1"}'::jsonb, 'u'),
        (2, 'no', '{"error.type": "E2", "error.stack_trace": "s2", "version": "r2"}', null),
        (3, 'no', '{"exception.type": "E3", "exception.stacktrace": "s3", "service.version": "r3", '
          '"user": {"id": 7}}', null),
        (4, 'no', '{"err": {"type": "E4", "stack": "s4"}, "service": {"version": "r4"}}', null),
        (5, 'KeyError: ''x''', null, null),
        (6, E'Error: boom\n    at f (a.js:1:2)', '{"error": "text", "stack": "s6"}', null),
        (7, 'failed to pay: no money', '{"release": ""}', null),
        (8, null, null, null)
    ) v (n, msg, attrs, user_id)
    order by v.n$$,
  $$values
    (1, 'E1', 's1', 'r1', true), (2, 'E2', 's2', 'r2', false), (3, 'E3', 's3', 'r3', true),
    (4, 'E4', 's4', 'r4', false), (5, 'KeyError', null, null, false),
    (6, 'Error', 's6', null, false), (7, null, null, null, false),
    (8, null, null, null, false)$$,
  'type, stack, release and user have the names that loggers use'
);

select results_eq(
  $$select format('%s', logloom_private.error_title(
      v.error_type, logloom_private.error_template(logloom_private.error_shape(v.msg))
    ))
    from (
      values
        (1, null, 'user ann@acme.com: order 42 of ''Ann B.'' failed at 10.0.0.7:5432'),
        (2, 'TypeError', 'TypeError: Cannot read properties of undefined (reading ''id'')'),
        (3, 'TypeError', 'can''t pay: it''s late'),
        (4, 'E1', ''), (5, null, null)
    ) v (n, error_type, msg)
    order by v.n$$,
  $$values
    ('user <*>: order <*> of <*> failed at <*>'),
    ('TypeError: Cannot read properties of undefined (reading <*>)'),
    ('TypeError: can''t pay: it''s late'), ('E1'), ('Error without a message')$$,
  'a title is a template'
);

-- 10,000 users in a sketch: the standard error is 6 %.
select ok(logloom_private.error_users(u.hashes) between 8500 and 11500, 'many users are estimated')
from (
  select array_agg(h order by h) as hashes
  from (
    select hashtextextended('user ' || n, 0) as h from generate_series(1, 10000) n
    order by 1 limit logloom_private.error_users_kept()
  ) k
) u;

select * from finish();
rollback;
