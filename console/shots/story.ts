/** A day of a shop's logs: quiet at night, and a card processor that fails for some minutes. */

const minute = 60_000;
const routes = ["/", "/search", "/products/:id", "/cart", "/checkout", "/login"];
const methods: Record<string, string> = { "/cart": "POST", "/checkout": "POST", "/login": "POST" };
const regions = ["eu-west", "us-east"];

/** Random numbers that are the same in every run. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let n = Math.imul(state ^ (state >>> 15), 1 | state);
    n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n;
    return ((n ^ (n >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Event = Record<string, unknown>;

export function story(now: number): Event[] {
  const roll = dice(7);
  const pick = <Item>(items: Item[]): Item => items[Math.floor(roll() * items.length)] as Item;
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => Math.floor(roll() * 16).toString(16))
      .join("");
  const events: Event[] = [];
  for (let ago = 24 * 60; ago >= 0; ago--) {
    const hour = new Date(now - ago * minute).getUTCHours();
    const isFailing = ago < 22 && ago > 6;
    const busy = 2 + 5 * (1 + Math.sin(((hour - 9) / 24) * 2 * Math.PI)) / 2 +
      (ago < 60 ? 22 : 0);
    const requests = Math.round(busy * (0.6 + 0.8 * roll()));
    for (let n = 0; n < requests; n++) {
      const at = now - ago * minute - Math.floor(roll() * minute);
      const route = pick(routes);
      const shared = {
        env: "prod",
        req_id: hex(12),
        route,
        user_id: `u_${1000 + Math.floor(roll() * 400)}`,
      };
      const duration = Math.round(12 + 140 * roll() ** 3);
      const fails = isFailing && route === "/checkout" && roll() < 0.7;
      const slow = roll() < 0.03;
      events.push({
        ...shared,
        ts: new Date(at).toISOString(),
        level: fails ? "error" : "info",
        service: "gateway",
        host: `edge-${1 + Math.floor(roll() * 3)}`,
        msg: `${methods[route] ?? "GET"} ${route.replace(":id", `${Math.floor(roll() * 900)}`)} ${
          fails ? 502 : 200
        } in ${slow ? duration * 20 : duration} ms`,
        attrs: {
          status: fails ? 502 : 200,
          duration_ms: slow ? duration * 20 : duration,
          region: pick(regions),
          http: { method: methods[route] ?? "GET", bytes: Math.floor(roll() * 30_000) },
        },
      });
      if (slow) {
        events.push({
          ...shared,
          ts: new Date(at + 2).toISOString(),
          level: "warn",
          service: "api",
          host: "api-2",
          msg: `slow query: select * from products where name ilike $1 (${duration * 18} ms)`,
          attrs: { duration_ms: duration * 18, rows: Math.floor(roll() * 4000), db: "replica-1" },
        });
      }
      if (fails) {
        events.push({
          ...shared,
          ts: new Date(at + 1).toISOString(),
          level: "error",
          service: "checkout",
          host: `checkout-${1 + Math.floor(roll() * 2)}`,
          msg: "card processor did not answer: connect ETIMEDOUT 203.0.113.7:443",
          attrs: {
            order: { id: 40_000 + Math.floor(roll() * 9000), total: 120.5, currency: "EUR" },
            attempt: 1 + Math.floor(roll() * 3),
            error: {
              name: "TimeoutError",
              stack:
                "TimeoutError: connect ETIMEDOUT 203.0.113.7:443\n    at charge (checkout/card.ts:88:11)\n    at pay (checkout/pay.ts:31:5)",
            },
          },
        });
      } else if (route === "/checkout") {
        events.push({
          ...shared,
          ts: new Date(at + 1).toISOString(),
          level: "info",
          service: "checkout",
          host: "checkout-1",
          msg: "order paid",
          attrs: { order: { id: 40_000 + Math.floor(roll() * 9000), total: 59.9 }, attempt: 1 },
        });
      } else if (route === "/login" && roll() < 0.1) {
        events.push({
          ...shared,
          ts: new Date(at + 1).toISOString(),
          level: "warn",
          service: "auth",
          host: "auth-1",
          msg: "sign-in refused: wrong password",
          attrs: { ip: `198.51.100.${Math.floor(roll() * 200)}`, region: pick(regions) },
        });
      }
    }
    if (ago % 15 === 0) {
      events.push({
        ts: new Date(now - ago * minute).toISOString(),
        level: "debug",
        service: "worker",
        env: "prod",
        host: "worker-1",
        msg: "queue looked at",
        attrs: { waiting: Math.floor(roll() * 20), job: "send-invoices" },
      });
    }
  }
  return events.filter(({ ts }) => Date.parse(String(ts)) <= now);
}
