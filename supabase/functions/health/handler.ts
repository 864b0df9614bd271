import type { CallDatabase } from "../_shared/database.ts";
import { away, type Views } from "./database_unreachable.ts";
import { jsonText, methodNotAllowed, preflight } from "../_shared/http.ts";
import { takingBodies } from "../_shared/request_body.ts";

export interface HealthDependencies {
  readonly callDatabase: CallDatabase;
  readonly now: () => Date;
  /** The name of the database key, which health shows. */
  readonly serviceKeyName: string;
}

const endpoints = Object.keys(away(new Date(0), ""));

const allowedMethods = "GET, HEAD, OPTIONS";

export function createHealthHandler(
  { callDatabase, now, serviceKeyName }: HealthDependencies,
): (request: Request) => Promise<Response> {
  let inFlight: Promise<Views> | undefined;

  /** Concurrent requests share one call, because anybody may ask for health. */
  function views(): Promise<Views> {
    inFlight ??= readViews().finally(() => inFlight = undefined);
    return inFlight;
  }

  async function readViews(): Promise<Views> {
    const answer = await callDatabase("health_report", "{}");
    const views = answer.ok
      ? (JSON.parse(answer.value) as { endpoints: Views }).endpoints
      : away(now(), answer.failure.reason ?? answer.failure.error);
    const detailed = views.detailed && {
      ...views.detailed,
      checks: { ...views.detailed.checks, service_key: { name: serviceKeyName } },
    };
    return { ...views, detailed };
  }

  async function respond(path: string | undefined): Promise<Response> {
    const timestamp = now().toISOString();
    if (path === "") {
      const message = "Logloom is running";
      return jsonText(200, JSON.stringify({ status: "healthy", timestamp, message }));
    }
    const name = path?.slice(1) ?? "";
    // An unknown path does not call the database.
    if (!endpoints.includes(name)) {
      return jsonText(404, JSON.stringify({ error: "Unknown health endpoint" }));
    }
    const { available, status, checks } = (await views())[name]!;
    return jsonText(available ? 200 : 503, JSON.stringify({ status, timestamp, checks }));
  }

  return takingBodies(async (request) => {
    if (request.method === "OPTIONS") return preflight(allowedMethods);
    if (request.method !== "GET" && request.method !== "HEAD") {
      return methodNotAllowed(request.method, allowedMethods);
    }
    const response = await respond(endpoint(new URL(request.url).pathname));
    response.headers.set("Cache-Control", "no-store");
    return request.method === "HEAD" ? new Response(null, response) : response;
  });
}

/**
 * The path after the function's name, which some projects change from `health`; undefined if there is none. Hosted
 * functions do not see `/functions/v1`.
 */
function endpoint(pathname: string): string | undefined {
  return /^(?:\/functions\/v1)?\/[\w-]+(|\/[^/]+)\/?$/.exec(pathname)?.[1];
}
