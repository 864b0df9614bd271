import { PostgrestClient } from "@supabase/postgrest-js";
import type { Database } from "../../../types/database.ts";
import type { Config } from "./config.ts";
import { errorOf, ServiceError } from "./errors.ts";
import { parseExactly } from "./numbers.ts";
import type { Session } from "./session.ts";

type Functions = Database["public"]["Functions"];
export type Operation = keyof Functions & string;
export type Parameters<Name extends Operation> = Functions[Name]["Args"];

/** The one place that talks to the service. */
export interface Service {
  /** Calls an operation; docs/reference/api/ describes `Result`. */
  call<Result>(
    operation: string,
    parameters: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<Result>;
  health(signal?: AbortSignal): Promise<unknown>;
  /** The address that senders use. */
  readonly url: string;
}

export function createService(config: Config, session: Session): Service {
  const origin = config.url === "" ? location.origin : config.url;

  async function call<Result>(
    operation: string,
    parameters: Record<string, unknown>,
    signal?: AbortSignal,
    isRepeated = false,
  ): Promise<Result> {
    const token = await session.token();
    if (token === null) throw new ServiceError("You are not signed in.", 401);
    const answer = { status: 0, retryAfter: null as string | null, text: "" };
    const client = new PostgrestClient<Database>(`${origin}/rest/v1`, {
      headers: {
        Authorization: `Bearer ${token}`,
        "X-Client-Info": "logloom-console",
        ...(config.key ? { apikey: config.key } : {}),
      },
      fetch: async (input, init) => {
        const response = await fetch(input, {
          ...init,
          credentials: "omit",
          signal,
        });
        answer.status = response.status;
        answer.retryAfter = response.headers.get("retry-after");
        answer.text = await response.text();
        return new Response(answer.text, {
          status: response.status,
          headers: response.headers,
        });
      },
    });
    // The generated types know the name; parameters and results are checked at each use.
    const { data, error } = await client.rpc(
      operation as Operation,
      parameters as never,
    );
    signal?.throwIfAborted();
    if (error) {
      const failure = errorOf(answer.status, error, answer.retryAfter);
      if (failure.status === 401 && !isRepeated && await session.refused()) {
        return call(operation, parameters, signal, true);
      }
      throw answer.status === 0 ? new ServiceError("The service cannot be reached.", 0) : failure;
    }
    return parseExactly(answer.text, data) as Result;
  }

  async function health(signal?: AbortSignal): Promise<unknown> {
    const response = await fetch(`${origin}/functions/v1/${config.health}/detailed`, {
      credentials: "omit",
      signal,
      headers: {
        "X-Client-Info": "logloom-console",
        ...(config.key ? { apikey: config.key } : {}),
      },
    }).catch(() => null);
    if (!response) throw new ServiceError("The service cannot be reached.", 0);
    const report = await response.json().catch(() => null);
    // A report can come with 503 too.
    if (typeof report?.status === "string") return report;
    throw errorOf(response.status, report, response.headers.get("retry-after"));
  }

  return { call, health, url: origin };
}
