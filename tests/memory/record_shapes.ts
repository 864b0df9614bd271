/** Hostile records: SQL expressions over n, from 1 to count, for the fields that differ from an ordinary record. */
export interface Shape {
  count: number;
  msg?: string;
  attrs?: string;
  host?: string;
  service?: string;
  req_id?: string;
}

const digits = (length: number) =>
  `(select string_agg(substr(random()::numeric(40, 17)::text, 3, 15), '')
    from generate_series(1, ${Math.ceil(length / 15)} + 0 * n))`;
const letters = (length: number) =>
  `(select string_agg(translate(md5(random()::text), '0123456789', 'ghijklmnop'), '')
    from generate_series(1, ${Math.ceil(length / 32)} + 0 * n))`;

export const shapes: Record<string, Shape> = {
  "ordinary records": { count: 32_000 },
  "long runs of digits among small ones": {
    count: 331,
    msg: `case when n <= 31 then ${digits(500_000)} else 'request ' || n end`,
  },
  "one huge message among small ones": {
    count: 5000,
    msg: `case when n = 2500 then ${
      digits(1_000_000)
    } else 'request ' || n || ' took ' || n % 977 || ' ms' end`,
  },
  "messages of a kilobyte, each unlike the others": {
    count: 6000,
    msg:
      `(select jsonb_object_agg('k' || i, md5((n * i)::text))::text from generate_series(1, 30) i)`,
  },
  "words and digits in turn": {
    count: 24,
    msg:
      `(select string_agg('took ' || i % 7919 || ' ms, ', '') from generate_series(1, 65000 + 0 * n) i)`,
  },
  // A record has at most 160,000 values.
  "as many numbers as a record may have": {
    count: 24,
    attrs: `jsonb_build_object('n', (select jsonb_agg(i % 9) from generate_series(1, 159900) i))`,
  },
  "events of 150,000 numbers": {
    count: 24,
    attrs:
      `jsonb_build_object('n', (select jsonb_agg(i % 9999 + n) from generate_series(1, 150000) i))`,
  },
  "as many objects as a record may have": {
    count: 24,
    msg: digits(900_000),
    attrs: `jsonb_build_object(
      'n', (select jsonb_agg('{}'::jsonb) from generate_series(1, 11300 + 0 * n))
    )`,
  },
  "as many small objects as a record may have": {
    count: 24,
    msg: digits(800_000),
    attrs: `jsonb_build_object(
      'n', (select jsonb_agg(jsonb_build_object('a', i % 9)) from generate_series(1, 11300 + n) i)
    )`,
  },
  "as many objects below keys as a record may have": {
    count: 24,
    msg: digits(600_000),
    attrs: `(
      select jsonb_object_agg(to_hex(i), jsonb_build_object('a', i % 9))
      from generate_series(1, 11300 + 0 * n) i
    )`,
  },
  "as many keys as a record may have": {
    count: 24,
    attrs:
      `(select jsonb_object_agg(to_hex(n * i), i % 9) from generate_series(1, 79000 + 0 * n) i)`,
  },
  "numbers whose text is far longer than they are": {
    count: 200,
    attrs:
      `jsonb_build_object('n', (select jsonb_agg('1e300'::numeric) from generate_series(1, 3400)))`,
  },
  "objects of many keys": {
    count: 24,
    attrs: `(select jsonb_object_agg('key ' || n || ' ' || i, i) from generate_series(1, 40000) i)`,
  },
  "another key in each record": {
    count: 8000,
    attrs: `jsonb_build_object('key ' || n, n, 'text', repeat('x', 500))`,
  },
  "deep nesting": {
    count: 400,
    attrs: `(repeat('{"a":[', 1500) || n || repeat(']}', 1500))::jsonb`,
  },
  "a MiB at the end of a path": {
    count: 24,
    attrs: `(repeat('{"a":', 32) || to_jsonb(${letters(1_000_000)}) || repeat('}', 32))::jsonb`,
  },
  "texts of a MiB by the dozen": { count: 48, msg: `${letters(1_000_000)}` },
  "one letter, a MiB of it, by the dozen": { count: 100, msg: `repeat('a', 1000000)` },
  "attributes of a MiB by the dozen": {
    count: 48,
    attrs: `jsonb_build_object('body', ${letters(1_000_000)}, 'n', n)`,
  },
  "one host of a MiB by the dozen": { count: 96, host: "repeat('host ' || 0 * n, 166000)" },
  "long values of a dictionary": {
    count: 1000,
    host: `repeat('host ' || n % 3, 30000)`,
    attrs: `jsonb_build_object('text', repeat('value ' || n % 3, 30000), 'n', n)`,
  },
  "long request ids": { count: 48, req_id: `repeat(n || ' ', 300000)`, msg: `'request ' || n` },
  "long services": { count: 48, service: `repeat('s' || n, 300000)` },
  "what separates texts": {
    count: 24,
    msg: `repeat(chr(30), 80000) || n`,
    attrs: `jsonb_build_object('text', repeat(chr(30) || chr(31), 40000), 'n', n)`,
  },
  "letters of four bytes": { count: 48, msg: `repeat('🚀9', 200000) || n` },
};
