import { isWellFormedKey } from "../_shared/auth.ts";
import { findCredentials, whereKeysGo } from "../_shared/credentials.ts";
import { describeError, logFailure } from "../_shared/errors.ts";
import { preflight } from "../_shared/http.ts";
import { takingBodies } from "../_shared/request_body.ts";
import { withoutSlashesAtEnd } from "../_shared/trailing_slashes.ts";
import { type Reader, readerOf } from "./reader.ts";
import type { ReadDatabase } from "./database.ts";
import { notKnown, problem } from "./error_answer.ts";
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
    const response = await answered(request, dependencies).catch(failed);
    response.headers.set("Cache-Control", "no-store");
    return response;
  });
}

async function answered(request: Request, dependencies: ReadDependencies): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const path = pathBelowFunction(pathname);
  const protocol = await protocolOf(path);
  if (protocol === undefined) {
    return problem(404, "Nothing is served at this path", {
      hint: "Read by POST /v1/<operation>.",
    });
  }
  const { methods } = protocol;
  if (request.method === "OPTIONS") {
    return preflight(methods, request.headers.get("Access-Control-Request-Headers"));
  }
  if (!methods.split(", ").includes(request.method)) {
    return problem(405, `Method ${request.method} is not allowed here`, {
      name: "callers.method_is_not_allowed",
      hint: `Allowed: ${methods}.`,
      headers: { Allow: methods },
    });
  }
  return await protocol.answer({
    request,
    path,
    reader: readerIn(request, search),
    ...dependencies,
  });
}

const nothing = new URLSearchParams();

function readerIn({ url, headers }: Request, search: string): Reader | Response {
  if (url.match(/ll[tpc]?_[0-9A-Za-z]{36}/g)?.some(isWellFormedKey)) {
    return notKnown(
      "Keys in an address are refused, because proxies log addresses: revoke this one, and send " +
        "another as X-API-Key",
    );
  }
  const credentials = findCredentials(headers, nothing, undefined);
  const missing = credentials === undefined
    ? whereKeysGo(headers, new URLSearchParams(search))
    : "";
  return readerOf(credentials, missing, headers.get("X-Logloom-Origin"));
}

/** The answer to an unexpected error. Its text may quote the query, so it is neither logged nor sent. */
function failed(error: unknown): Response {
  logFailure("request failed", { reason: describeError(error) });
  return problem(500, "This request cannot be answered");
}

/** Hosted functions do not see `/functions/v1`, and a project may give the function another name. */
function pathBelowFunction(pathname: string): string {
  return withoutSlashesAtEnd(pathname.replace(/^(?:\/functions\/v1)?\/[\w-]+(?=\/|$)/, ""));
}
