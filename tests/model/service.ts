import { createReader, LogloomError, type Reader } from "../../packages/logloom/src/read.ts";
import { type Answer, ingest, newTenant, type Tenant } from "../support/client.ts";
import { callAsOwner, type Database, openDatabase, queueIsEmpty } from "../support/database.ts";
import { eventually, pause } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { userToken } from "../support/tokens.ts";

/** A tenant of the stack: its owner, and a user whose role changes. */
export interface RealTenant {
  owner: Tenant;
  asOwner: Reader;
  other: Tenant;
  asOther: Reader;
  viewId: string;
}

/** The stack under test. */
export class Service {
  #sql: Database | undefined;

  constructor(readonly tenants: RealTenant[]) {}

  get sql(): Database {
    return this.#sql ??= openDatabase(undefined, 2, { isCut: true });
  }

  /** Closes connections before a kill. The next use opens new ones. */
  async disconnect(): Promise<void> {
    const sql = this.#sql;
    this.#sql = undefined;
    await sql?.end({ timeout: 1 });
  }

  /** Waits until everything acknowledged is visible. */
  async settle(): Promise<void> {
    await this.asOwner("call logloom_private.run_job('write_logs')");
    await queueIsEmpty(this.sql);
  }

  /** Runs statements as the owner, like jobs. */
  async asOwner(statements: string): Promise<Record<string, unknown>[]> {
    return await callAsOwner(this.sql, statements);
  }
}

export async function realTenant(): Promise<RealTenant> {
  const owner = await newTenant("model");
  const userId = crypto.randomUUID();
  const token = await userToken({ tenant_id: owner.id, sub: userId });
  const other = { ...owner, userId, token, headers: { authorization: `Bearer ${token}` } };
  return { owner, asOwner: patient(owner), other, asOther: patient(other), viewId: "" };
}

/** Makes a client that repeats requests that fail on a connection that a kill has broken. */
function patient({ token }: Tenant): Reader {
  const key = stack.anonKey;
  return createReader({ url: stack.url, key, token, fetch: fetchPatiently }, { patienceMs: 0 });
}

/** Five minutes, like "eventually". */
const mostTries = 3_000;

async function fetchPatiently(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  for (let tries = 1;; tries++) {
    const response = await fetch(input, init).catch((error: Error) => error);
    if (response instanceof Response) {
      if (tries === mostTries || !await isOfKill(response)) return response;
    } else if (tries === mostTries) throw response;
    await pause(100);
  }
}

async function isOfKill(response: Response): Promise<boolean> {
  if (response.status === 503) return true;
  // PostgREST gives this answer only if its connection is broken.
  if (response.status !== 400 && response.status !== 500) return false;
  const { code } = await response.clone().json().catch(() => ({}));
  return code === "" || /^57P0\d$/.test(code);
}

/** Repeats a request with an Idempotency-Key until ingest answers. */
export async function sendPatiently(
  headers: Record<string, string>,
  body: string,
): Promise<Answer> {
  return await eventually("ingest answers", async () => {
    const answer = await ingest(headers, body);
    return answer.status !== 503 && answer;
  }, { every: 20 });
}

/** Returns the status of a call: 200, or the status of its error. */
export async function statusOf(call: Promise<unknown>): Promise<number> {
  try {
    await call;
    return 200;
  } catch (error) {
    if (error instanceof LogloomError) return error.status;
    throw error;
  }
}
