import assert from "node:assert/strict";
import { createKey, newTenant, rpc, type Tenant } from "../support/client.ts";
import { openDatabase, queueIsEmpty } from "../support/database.ts";
import { stack } from "../support/stack.ts";
import { project } from "./project.ts";

export interface Trial {
  readonly tenant: Tenant;
  /** What a program finds in its environment. */
  readonly env: Record<string, string>;
}

export async function newTrial(name: string, url = stack.url): Promise<Trial> {
  const tenant = await newTenant(name);
  const { key_value: key } = await createKey(tenant);
  return {
    tenant,
    env: {
      LOGLOOM_URL: url,
      LOGLOOM_API_KEY: key,
      LOGLOOM_TOKEN: tenant.token,
      LOGLOOM_ANON_KEY: stack.anonKey,
      NO_COLOR: "1",
      DENO_NO_UPDATE_CHECK: "1",
    },
  };
}

export interface Ended {
  readonly code: number;
  readonly said: string;
}

/** Runs a program of the project to its end. */
export async function runProgram(
  source: string,
  env: Record<string, string>,
  [program, ...args]: string[] = ["node", "--no-warnings"],
): Promise<Ended> {
  const file = await Deno.makeTempFile({ dir: project, suffix: ".mjs" });
  await Deno.writeTextFile(file, source);
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args, file],
    cwd: project,
    env,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, said: decoder.decode(stdout) + decoder.decode(stderr) };
}

export interface Log {
  level: string | null;
  msg: string | null;
  service: string | null;
  req_id: string | null;
  attrs: Record<string, unknown>;
}

/** All that a tenant has, the oldest first, once nothing is on its way any more. */
export async function records(tenant: Tenant): Promise<Log[]> {
  await using sql = openDatabase();
  await queueIsEmpty(sql);
  const all: Log[] = [];
  let cursor: string | null = null;
  do {
    const { status, body }: { status: number; body: { logs: Log[]; next_cursor: string | null } } =
      await rpc(tenant.token, "search_logs", { p_order: "asc", p_limit: 1000, p_cursor: cursor });
    assert.equal(status, 200);
    all.push(...body.logs);
    cursor = body.next_cursor;
  } while (cursor !== null);
  return all;
}

/** A proxy before the stack, which may lose an answer: nobody knows then that the events are stored. */
export function proxy(losesAnswer: (before: number) => boolean = () => false) {
  const requests: { idempotencyKey: string | null; events: number; path: string }[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = await request.arrayBuffer();
      const before = requests.length;
      const events: unknown = request.method === "POST" && pathname.endsWith("/ingest")
        ? JSON.parse(new TextDecoder().decode(body))
        : [];
      requests.push({
        idempotencyKey: request.headers.get("Idempotency-Key"),
        events: Array.isArray(events) ? events.length : 1,
        path: pathname,
      });
      const answer = await fetch(`${stack.url}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        body: request.method === "POST" ? body : null,
      });
      const text = await answer.text();
      if (!losesAnswer(before)) return new Response(text, answer);
      // One in two says that it failed, the other breaks off.
      if (before % 4 === 0) return new Response("Bad gateway", { status: 502 });
      const broken = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(text.slice(0, 5)));
        },
        pull(controller) {
          controller.error(new Error("broken"));
        },
      });
      return new Response(broken, { status: answer.status });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
