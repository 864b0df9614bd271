import { createLogger, type Logger, type LoggerOptions } from "./index.ts";

export interface Received {
  readonly body: string;
  readonly key: string | null;
  readonly idempotencyKey: string | null;
  readonly at: number;
}

export type Event = Record<string, unknown> & { attrs: Record<string, unknown> };

/** A receiver with the test's answers. By default it accepts everything. */
export function receiver(
  answer: (before: number, events: Event[]) => Response | Promise<Response> = (_before, events) =>
    accepted(events.length),
) {
  const requests: Received[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = await request.text();
      requests.push({
        body,
        key: request.headers.get("X-API-Key"),
        idempotencyKey: request.headers.get("Idempotency-Key"),
        at: performance.now(),
      });
      return await answer(requests.length - 1, JSON.parse(body));
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    events: () => requests.flatMap(({ body }) => JSON.parse(body) as Event[]),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

export function accepted(ingested: number): Response {
  return Response.json({ success: true, ingested, rejected: 0 });
}

export interface Trial extends AsyncDisposable {
  readonly log: Logger;
  readonly failures: string[];
}

export function trial(url: string, options: Partial<LoggerOptions> = {}): Trial {
  const failures: string[] = [];
  const log = createLogger({
    url,
    key: "ll_key",
    service: "api",
    env: "test",
    onError: ({ message }) => failures.push(message),
    ...options,
  });
  return { log, failures, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
}

/** Makes timers fire at once. The clock advances by the time that they would have waited. */
export function withoutWaiting(): Disposable & { readonly waits: number[] } {
  const { setTimeout: timeout } = globalThis;
  const { now } = performance;
  const { now: date } = Date;
  const waits: number[] = [];
  let waited = 0;
  globalThis.setTimeout = ((act: () => void, ms = 0) => {
    waits.push(ms);
    waited += ms;
    return timeout(act, 0);
  }) as typeof setTimeout;
  Date.now = () => date() + waited;
  performance.now = () => now.call(performance) + waited;
  return {
    waits,
    [Symbol.dispose]() {
      globalThis.setTimeout = timeout;
      Date.now = date;
      performance.now = now;
    },
  };
}
