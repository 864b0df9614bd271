import { findCredentials, whereKeysGo } from "../_shared/credentials.ts";
import { preflight } from "../_shared/http.ts";
import { takingBodies } from "../_shared/request_body.ts";
import { withoutSlashesAtEnd } from "../_shared/slashes.ts";
import { readerOf } from "./caller.ts";
import type { ReadDatabase } from "./database.ts";
import { problem } from "./problem.ts";
import { protocolOf } from "./routes.ts";

export interface ReadDependencies {
  readonly callDatabase: ReadDatabase;
  /** The project's address as clients see it, if the project knows it. */
  readonly publicUrl?: string;
}

export function createReadHandler(
  dependencies: ReadDependencies,
): (request: Request) => Promise<Response> {
  return takingBodies(async (request) => {
    const response = await answered(request, dependencies);
    response.headers.set("Cache-Control", "no-store");
    return response;
  });
}

async function answered(request: Request, dependencies: ReadDependencies): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const path = pathBelowFunction(pathname);
  const protocol = await protocolOf(path);
  if (protocol === undefined) {
    return problem(404, "There is nothing at this path", "Read by POST /v1/<operation>.");
  }
  const { methods } = protocol;
  if (request.method === "OPTIONS") {
    return preflight(methods, request.headers.get("Access-Control-Request-Headers"));
  }
  if (!methods.split(", ").includes(request.method)) {
    return problem(
      405,
      `Method ${request.method} is not allowed here`,
      `Allowed: ${methods}.`,
      { Allow: methods },
    );
  }
  // Never from the address, which proxies write down.
  const credentials = findCredentials(request.headers, new URLSearchParams(), undefined);
  const missing = whereKeysGo(request.headers, searchParams);
  const reader = readerOf(credentials, missing, request.headers.get("X-Logloom-Origin"));
  return await protocol.answer({ request, path, reader, ...dependencies });
}

/** Hosted functions do not see `/functions/v1`; a project may name the function as it likes. */
function pathBelowFunction(pathname: string): string {
  return withoutSlashesAtEnd(pathname.replace(/^(?:\/functions\/v1)?\/[\w-]+(?=\/|$)/, ""));
}
