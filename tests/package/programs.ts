import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { LogRecord } from "../../packages/logloom/src/read.ts";
import { clientOf, createKey, newTenant, type Tenant } from "../support/client.ts";
import { openDatabase, queueIsEmpty } from "../support/database.ts";
import { stack } from "../support/stack.ts";
import { project } from "./project.ts";

export interface Trial {
  readonly tenant: Tenant;
  /** The program's environment variables. */
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

/** Returns all records of a tenant, oldest first, after the queue is empty. */
export async function records(tenant: Tenant): Promise<LogRecord[]> {
  await using sql = openDatabase();
  await queueIsEmpty(sql);
  return await Array.fromAsync(clientOf(tenant.token).records("", { order: "asc" }));
}

/**
 * A proxy in front of the stack. It may drop an answer, so that the client does not know that its events are stored.
 */
export async function proxy(losesAnswer: (before: number) => boolean = () => false) {
  const requests: { idempotencyKey: string | undefined; events: number }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request));
    const { "idempotency-key": idempotencyKey, host: _, ...headers } = request.headers;
    const isIngest = request.url === "/functions/v1/ingest";
    const before = requests.length;
    requests.push({
      idempotencyKey: idempotencyKey?.toString(),
      events: isIngest ? JSON.parse(body.toString()).length : 0,
    });
    const answer = await fetch(`${stack.url}${request.url}`, {
      method: request.method,
      headers: {
        ...headers as Record<string, string>,
        ...idempotencyKey !== undefined && { "Idempotency-Key": `${idempotencyKey}` },
      },
      body,
    });
    const text = await answer.text();
    if (losesAnswer(before)) {
      // Half of the lost answers become a 502, the others break off.
      if (before % 4 === 0) response.writeHead(502).end("Bad gateway");
      else response.destroy();
    } else response.writeHead(answer.status, { "Content-Type": "application/json" }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
