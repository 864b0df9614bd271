import assert from "node:assert/strict";
import { failure, type Result, success } from "../_shared/errors.ts";
import { createNotifyHandler, type Notification, type NotifyDependencies } from "./handler.ts";
import type { Outcome } from "./delivery_outcome.ts";

const secret = "a shared secret";

/** A fake database with due notifications. It records which ones are settled, and how. */
class Outbox {
  readonly settled: Record<string, unknown>[] = [];
  readonly claims: number[] = [];
  #due: Notification[];
  /** How many calls of settle_alert_notification fail before one succeeds. */
  failures = 0;

  constructor(count: number) {
    this.#due = Array.from({ length: count }, (_, index) => notification(`${index}`));
  }

  add(id: string, changes: Partial<Notification> = {}): void {
    this.#due.push({ ...notification(id), ...changes });
  }

  call = (name: string, body: string): Promise<Result<string>> => {
    const parameters = JSON.parse(body);
    if (name === "claim_alert_notifications") {
      this.claims.push(parameters.p_limit);
      return Promise.resolve(success(JSON.stringify(this.#due.splice(0, parameters.p_limit))));
    }
    assert.equal(name, "settle_alert_notification");
    if (this.failures-- > 0) return Promise.resolve(failure(503, "away"));
    this.settled.push(parameters);
    return Promise.resolve(success('{"success":true}'));
  };
}

function notification(id: string): Notification {
  return {
    notification_id: id,
    claim_id: `claim of ${id}`,
    channel: "webhook",
    address: "https://example.com/",
    body: "{}",
    secrets: [],
    tenant_id: "acme",
    rule_id: "r",
    template: null,
    is_complete: true,
    customer: null,
  };
}

const delivered: Outcome = { outcome: "delivered", status: 200 };

function handle(outbox: Outbox, changes: Partial<NotifyDependencies> = {}): {
  ask: (init?: RequestInit) => Promise<Response>;
  work: Promise<void>[];
  pauses: number[];
} {
  const work: Promise<void>[] = [];
  const pauses: number[] = [];
  const handler = createNotifyHandler({
    secret,
    callDatabase: outbox.call,
    deliver: () => Promise.resolve(delivered),
    sealAll: () => Promise.resolve(),
    limit: 4,
    keepAlive: (promise) => work.push(promise),
    pause: (milliseconds) => {
      pauses.push(milliseconds);
      return Promise.resolve();
    },
    ...changes,
  });
  const ask = (init: RequestInit = {}) =>
    handler(
      new Request("http://localhost/notify", {
        method: "POST",
        headers: { "X-Logloom-Notify-Secret": secret },
        body: init.method === "GET" ? undefined : "{}",
        ...init,
      }),
    );
  return { ask, work, pauses };
}

Deno.test("only a request with the secret starts deliveries", async () => {
  const outbox = new Outbox(1);
  const { ask, work } = handle(outbox);
  for (
    const given of [undefined, "", "a shared secre", "a shared secret ", "A shared secret", "x"]
  ) {
    const headers: Record<string, string> = given === undefined ? {} : {
      "X-Logloom-Notify-Secret": `${given}.`.slice(0, given === "a shared secret " ? 17 : -1),
    };
    const response = await ask({ headers });
    assert.equal(response.status, 401, given);
    assert.deepEqual(await response.json(), { error: "Invalid secret" });
  }
  assert.equal((await ask({ method: "GET" })).status, 405);
  assert.deepEqual([work, outbox.claims], [[], []]);
});

Deno.test("without a configured secret no delivery starts", async () => {
  const { ask, work } = handle(new Outbox(1), { secret: undefined });
  const response = await ask();
  assert.equal(response.status, 503);
  assert.deepEqual(await response.json(), { error: "Notifications are not configured" });
  assert.deepEqual(work, []);
});

Deno.test("the answer does not wait for the deliveries", async () => {
  const outbox = new Outbox(1);
  const slow = Promise.withResolvers<Outcome>();
  const { ask, work } = handle(outbox, { deliver: () => slow.promise });
  const response = await ask();
  assert.equal(response.status, 202);
  assert.deepEqual(await response.json(), { accepted: true });
  assert.deepEqual(outbox.settled, []);
  slow.resolve(delivered);
  await Promise.all(work);
  assert.deepEqual(outbox.settled, [{
    p_notification_id: "0",
    p_claim_id: "claim of 0",
    p_outcome: "delivered",
    p_status: 200,
  }]);
});

Deno.test("all due notifications are delivered, a few at a time", async () => {
  const outbox = new Outbox(11);
  let atOnce = 0;
  let most = 0;
  const { ask, work } = handle(outbox, {
    deliver: async () => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setTimeout(resolve, 5));
      atOnce -= 1;
      return delivered;
    },
  });
  await Promise.all([ask(), ask(), ask()]);
  await Promise.all(work);
  assert.equal(outbox.settled.length, 11);
  assert.equal(most, 4);
  assert.ok(outbox.claims.every((limit) => limit >= 1 && limit <= 4));
});

Deno.test("a hanging delivery does not delay the others", async () => {
  const outbox = new Outbox(9);
  const hanging = Promise.withResolvers<Outcome>();
  const othersAreDone = Promise.withResolvers<void>();
  const { ask, work } = handle(outbox, {
    deliver: ({ notification_id: id }) => {
      if (id === "0") return hanging.promise;
      if (id === "8") othersAreDone.resolve();
      return Promise.resolve(delivered);
    },
  });
  await ask();
  await othersAreDone.promise;
  hanging.resolve({ outcome: "retry", error: "HTTP 500", status: 500, retryAfter: 7 });
  await Promise.all(work);
  assert.deepEqual(outbox.settled.at(-1), {
    p_notification_id: "0",
    p_claim_id: "claim of 0",
    p_outcome: "retry",
    p_status: 500,
    p_error: "HTTP 500",
    p_retry_after: 7,
  });
});

Deno.test("notifications that come while a receiver hangs are claimed on the next call, by one worker", async () => {
  const outbox = new Outbox(1);
  const hanging = Promise.withResolvers<Outcome>();
  const { ask, work } = handle(outbox, {
    deliver: ({ notification_id: id }) => id === "0" ? hanging.promise : Promise.resolve(delivered),
  });
  await ask();
  outbox.add("later");
  await Promise.all(Array.from({ length: 50 }, () => ask()));
  while (outbox.settled.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(outbox.settled[0].p_notification_id, "later");
  hanging.resolve(delivered);
  await Promise.all(work);
  assert.equal(new Set(work).size, 1);
});

Deno.test("the outcome of a delivery is sent again if the database is unreachable", async () => {
  const outbox = new Outbox(1);
  outbox.failures = 2;
  const { ask, work, pauses } = handle(outbox);
  await ask();
  await Promise.all(work);
  assert.equal(outbox.settled.length, 1);
  assert.deepEqual(pauses, [500, 2000]);

  const away = new Outbox(1);
  away.failures = 9;
  const second = handle(away);
  await second.ask();
  await Promise.all(second.work);
  assert.deepEqual([away.settled, away.failures], [[], 6]);
});

Deno.test("the completed body is sent, or the body as it is if the database does not answer, or nothing without a claim", async () => {
  const outbox = new Outbox(0);
  for (const id of ["completed", "elsewhere", "away"]) outbox.add(id, { is_complete: false });
  const answers: Record<string, Result<string>> = {
    completed: success('"{\\"logs\\":[]}"'),
    elsewhere: success("null"),
    away: failure(503, "away"),
  };
  const sent: string[] = [];
  const { ask, work } = handle(outbox, {
    callDatabase: (name, body) => {
      if (name !== "complete_alert_notification") return outbox.call(name, body);
      return Promise.resolve(answers[JSON.parse(body).p_notification_id]);
    },
    deliver: ({ notification_id, body }) => {
      sent.push(`${notification_id}: ${body}`);
      return Promise.resolve(delivered);
    },
  });
  await ask();
  await Promise.all(work);
  assert.deepEqual(sent.toSorted(), ["away: {}", 'completed: {"logs":[]}']);
  assert.deepEqual(
    outbox.settled.map(({ p_notification_id }) => p_notification_id).toSorted(),
    ["away", "completed"],
  );
});

Deno.test("an unexpected error is a failed attempt, without the error's text", async () => {
  const outbox = new Outbox(1);
  const { ask, work } = handle(outbox, {
    deliver: () => Promise.reject(new Error("https://example.com/token")),
  });
  await ask();
  await Promise.all(work);
  const [{ p_outcome: outcome, p_error: error }] = outbox.settled;
  assert.deepEqual([outcome, error], ["retry", "The delivery failed unexpectedly"]);
});

Deno.test("a failed claim ends the work until the next call", async () => {
  const outbox = new Outbox(2);
  let isAway = true;
  const { ask, work } = handle(outbox, {
    callDatabase: (name, body) =>
      isAway ? Promise.resolve(failure(503, "away")) : outbox.call(name, body),
  });
  await ask();
  await Promise.all(work);
  isAway = false;
  await ask();
  await Promise.all(work);
  assert.equal(outbox.settled.length, 2);
});
