import type { CallDatabase } from "../_shared/database.ts";
import { jsonText, methodNotAllowed, preflight } from "../_shared/http.ts";

export interface HealthDependencies {
  readonly callDatabase: CallDatabase;
  readonly now: () => Date;
}

type Status = "healthy" | "degraded" | "unhealthy";

/** What `health_report` answers. What cannot be known while the database is away is null. */
interface Report {
  readonly status: Status;
  readonly checks: {
    readonly queue: {
      readonly status: Status;
      readonly depth: number | null;
      readonly oldest_item_age_seconds: number | null;
    };
    readonly writer: {
      readonly status: Status;
      readonly last_run: string | null;
      readonly last_duration_ms: number | null;
      readonly seconds_since_run: number | null;
    };
    readonly partitions: {
      readonly status: Status;
      readonly current_partition: string;
      readonly current_exists: boolean | null;
      readonly next_partition: string;
      readonly next_exists: boolean | null;
    };
  };
}

interface View {
  readonly httpStatus: number;
  readonly status: Status;
  readonly checks: Record<string, unknown>;
}

/** Each endpoint that looks at the database, and what it shows of the report. */
const views: Record<string, ((report: Report) => View) | undefined> = {
  "/ready": ({ status, checks: { queue, writer } }) => ({
    httpStatus: status === "healthy" ? 200 : 503,
    status,
    checks: { queue: { depth: queue.depth }, writer: { status: writer.status } },
  }),
  "/queue": ({ checks: { queue: { status, ...queue } } }) => ({
    httpStatus: 200,
    status,
    checks: { queue },
  }),
  "/writer": ({ checks: { writer: { status, ...writer } } }) => ({
    httpStatus: 200,
    status,
    checks: { writer },
  }),
  "/partitions": ({ checks: { partitions: { status, ...partitions } } }) => ({
    httpStatus: 200,
    status,
    checks: { partitions },
  }),
  "/detailed": ({ status, checks }) => ({
    httpStatus: status === "unhealthy" ? 503 : 200,
    status,
    checks,
  }),
};

const allowedMethods = "GET, HEAD, OPTIONS";

export function createHealthHandler(
  { callDatabase, now }: HealthDependencies,
): (request: Request) => Promise<Response> {
  let inFlight: Promise<Report> | undefined;

  /** One call at a time serves everybody, since anybody may ask. */
  function report(): Promise<Report> {
    inFlight ??= readReport().finally(() => inFlight = undefined);
    return inFlight;
  }

  async function readReport(): Promise<Report> {
    const answer = await callDatabase("health_report", [], "{}");
    return answer.ok ? JSON.parse(answer.value) as Report : databaseAwayReport(now());
  }

  async function respond(path: string | undefined): Promise<Response> {
    const timestamp = now().toISOString();
    if (path === "") {
      const message = "Logloom is running";
      return jsonText(200, JSON.stringify({ status: "healthy", timestamp, message }));
    }
    const view = path === undefined ? undefined : views[path];
    if (view === undefined) {
      return jsonText(404, JSON.stringify({ error: "Unknown health endpoint" }));
    }
    const { httpStatus, status, checks } = view(await report());
    return jsonText(httpStatus, JSON.stringify({ status, timestamp, checks }));
  }

  return async (request) => {
    if (request.method === "OPTIONS") return preflight(allowedMethods);
    if (request.method !== "GET" && request.method !== "HEAD") {
      return methodNotAllowed(request.method, allowedMethods);
    }
    const response = await respond(endpoint(new URL(request.url).pathname));
    response.headers.set("Cache-Control", "no-store");
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}

/** The path after `health`; undefined where there is none. Hosted functions see no `/functions/v1`. */
function endpoint(pathname: string): string | undefined {
  return /^(?:\/functions\/v1)?\/health(|\/[^/]+)\/?$/.exec(pathname)?.[1];
}

function databaseAwayReport(now: Date): Report {
  const status = "unhealthy";
  return {
    status,
    checks: {
      queue: { status, depth: null, oldest_item_age_seconds: null },
      writer: { status, last_run: null, last_duration_ms: null, seconds_since_run: null },
      partitions: {
        status,
        current_partition: partitionName(now, 0),
        current_exists: null,
        next_partition: partitionName(now, 1),
        next_exists: null,
      },
    },
  };
}

function partitionName(now: Date, daysAhead: number): string {
  const day = new Date(now.getTime() + daysAhead * 86_400_000);
  return `logs_${day.toISOString().slice(0, 10).replaceAll("-", "_")}`;
}
