import fc from "fast-check";
import type { Draft, Range, When } from "./tenant_model.ts";
import { day, everything, today } from "./tenant_model.ts";

// There are few values of each kind, so that queries find something and some times are equal.

/** Times within the first retention and before it, and times up to 24 hours ahead and beyond. */
const when: fc.Arbitrary<When> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ daysAgo: fc.nat(12), hour: fc.nat(23) }) },
  { weight: 4, arbitrary: fc.record({ daysAgo: fc.nat(29), hour: fc.constantFrom(0, 12, 23) }) },
  {
    weight: 1,
    arbitrary: fc.record({ daysAgo: fc.integer({ min: 31, max: 40 }), hour: fc.nat(23) }),
  },
  { weight: 1, arbitrary: fc.record({ hoursAhead: fc.constantFrom(1, 23, 25, 48) }) },
);

const draft: fc.Arbitrary<Draft> = fc.record({
  when,
  level: fc.constantFrom("debug", "info", "warn", "error"),
  service: fc.constantFrom("api", "web", "jobs"),
  word: fc.constantFrom("timeout", "login", "payment"),
  size: fc.constantFrom(0, 5, 10, 99, 100, 1000),
});

export const drafts = fc.array(draft, { minLength: 1, maxLength: 15 });

/** Filters that cause no warning. */
export const filter = fc.constantFrom(
  "ts:*",
  "level:error",
  "level:>=warn",
  "service:api",
  "service:web OR level:error",
  "-service:api",
  "timeout",
  '"took 5 ms"',
  "msg:*log*",
  "attrs.size:>=100",
  "attrs.size:[5 TO 99]",
  "level:info service:api payment",
  "(level:debug OR level:error) -timeout",
  "attrs.n:<20",
);

/** Everything, or some days. */
export const days = fc.option(
  fc.record({ from: fc.nat(12), length: fc.integer({ min: 1, max: 12 }) }),
);

export function rangeOf(drawn: { from: number; length: number } | null): Range {
  if (drawn === null) return everything();
  const from = today() - drawn.from * day;
  return { from, to: from + drawn.length * day };
}
