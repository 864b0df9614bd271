import type { AlertData, Payload } from "./message.ts";

/** An alert as the database describes it, for tests. */
export function samplePayload(
  changes: Partial<AlertData> = {},
  type: Payload["type"] = "alert.triggered",
): Payload {
  return {
    type,
    timestamp: "2026-11-21T12:05:07.000Z",
    data: {
      alert_id: "aaaaaaaa-0000-4000-8000-000000000001",
      rule_id: "bbbbbbbb-0000-4000-8000-000000000001",
      tenant_id: "acme",
      name: "Too many errors",
      description: null,
      query_dsl: "level:error | count() by service",
      value: 12,
      group: { service: "shop" },
      comparison: "gt",
      threshold: 10,
      window_minutes: 5,
      window_start: "2026-11-21T12:00:00.000Z",
      window_end: "2026-11-21T12:05:00.000Z",
      incident_id: "cccccccc-0000-4000-8000-000000000001",
      absent: false,
      alerts: [{
        alert_id: "aaaaaaaa-0000-4000-8000-000000000001",
        group: { service: "shop" },
        value: 12,
        absent: false,
      }],
      url: "https://logs.example/#q=level%3Aerror&from=2026-11-21T12%3A00&to=2026-11-21T12%3A05",
      logs: [
        { ts: "2026-11-21T12:04:59+00:00", level: "error", service: "shop", msg: "out of stock" },
        { ts: "2026-11-21T12:04:58+00:00", level: "error", service: "shop", msg: "sold out" },
      ],
      ...changes,
    },
  };
}

/** An attack by somebody who can write a log line. */
export const hostile =
  "<!channel> <@U1|x> @everyone @here <https://evil.example|click> *b* _i_ `c` ```" +
  ' [a](https://evil.example) # h\n> q\r\nBcc: a@b.example {{DATE(2026-01-01T00:00:00Z)}} "}],"x":1 \u202e &amp;';

export const hostilePayload = samplePayload({
  name: hostile.slice(0, 200),
  description: hostile,
  group: { service: hostile },
  alerts: [{ alert_id: null, group: { service: hostile }, value: 1 }],
  logs: [{ ts: "t", level: "error", service: hostile, msg: hostile.repeat(20) }],
});

/** Longer than any channel takes. */
export const longPayload = samplePayload({
  name: "n".repeat(200),
  query_dsl: "q".repeat(2048),
  group: { service: "😀".repeat(5000) },
  url: `https://logs.example/#q=${"x".repeat(5000)}`,
  alerts: Array.from({ length: 60 }, (_, n) => ({
    alert_id: null,
    group: { service: `${n} ${"s".repeat(300)}` },
    value: n,
  })),
  logs: Array.from({ length: 3 }, () => ({ msg: "`*<>&".repeat(500) })),
});
