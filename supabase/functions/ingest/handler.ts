import {
  type Authenticate,
  type Caller,
  type Credentials,
  readCredentials,
  sha256Hex,
} from "../_shared/auth.ts";
import type { CallDatabase } from "../_shared/database.ts";
import {
  describeError,
  type Failure,
  failure,
  logFailure,
  type Notes,
  type Result,
  success,
  unavailable,
} from "../_shared/errors.ts";
import {
  clientHeaders,
  failureResponse,
  jsonText,
  methodNotAllowed,
  preflight,
} from "../_shared/http.ts";
import { type Body, discardBody, readBody } from "./body.ts";
import { type Events, readEvents } from "./events.ts";
import { type Commit, createGroupCommit } from "./group_commit.ts";
import { createHolds, type Holds } from "./holds.ts";

export interface IngestDependencies {
  readonly authenticate: Authenticate;
  readonly callDatabase: CallDatabase;
  /** Called when pg_cron seems not to run the writer. Must return at once. */
  readonly wakeWriter: () => void;
}

const allowedMethods = "POST, OPTIONS";

export function createIngestHandler(
  dependencies: IngestDependencies,
): (request: Request) => Promise<Response> {
  const holds = createHolds();
  const commit = createGroupCommit(dependencies.callDatabase);
  return async (request) => {
    if (request.method === "OPTIONS") return preflight(allowedMethods);
    if (request.method !== "POST") return methodNotAllowed(request.method, allowedMethods);
    let answer: Result<string>;
    try {
      answer = await ingest(request, dependencies.authenticate, commit, holds);
    } catch (error) {
      logFailure("ingest failed", { reason: describeError(error) });
      answer = unavailable("The service is unavailable, try again");
    }
    const notes = answer.ok ? answer.notes : answer.failure.notes;
    if (notes?.["x-logloom-writer"] === "silent") dependencies.wakeWriter();
    return answer.ok
      ? jsonText(200, answer.value, clientHeaders(notes))
      : failureResponse(answer.failure);
  };
}

/** The answer's JSON text is the database's own. */
async function ingest(
  request: Request,
  authenticate: Authenticate,
  commit: Commit,
  holds: Holds,
): Promise<Result<string>> {
  const credentials = readCredentials(request.headers);
  if (!credentials.ok) return credentials;
  const held = await heldAnswer(request, credentials.value, authenticate, holds);
  if (held !== undefined) return held;
  const body = await readBody(request);
  const caller = await authenticate(credentials.value);
  if (!body.ok) {
    const known = caller.ok ? await askWhoCalls(caller.value, commit) : caller;
    return known.ok ? refusal(body.failure, known.notes) : body;
  }
  if (!caller.ok) return caller;

  const content = await readContent(request.headers, body.value);
  if (!content.ok) {
    // Whether a key lives only the database knows; without that nobody learns about the body.
    const known = await askWhoCalls(caller.value, commit);
    return known.ok ? refusal(content.failure, known.notes) : known;
  }
  const { events, parameters } = content.value;
  const answer = await commit(
    caller.value,
    events.toJson({ ...callerParameters(caller.value), ...parameters }),
    // What waits for another request's key must not hold the locks of others meanwhile.
    parameters.p_idempotency_key === undefined,
  );
  holds.remember(caller.value, answer.ok ? answer.notes : answer.failure.notes);
  return answer;
}

/** Whether the database knows the caller, and, in the notes, what is left of its limits. */
function askWhoCalls(caller: Caller, commit: Commit): Promise<Result<string>> {
  return commit(caller, JSON.stringify(callerParameters(caller)), true);
}

/** A failure found here, with what the database says of the caller. */
function refusal(failure: Failure, notes: Notes | undefined): Result<never> {
  return { ok: false, failure: { ...failure, notes } };
}

/** Who sends faster than its plan allows is refused here, at the price of reading, not of parsing. */
async function heldAnswer(
  request: Request,
  credentials: Credentials,
  authenticate: Authenticate,
  holds: Holds,
): Promise<Result<string> | undefined> {
  if (holds.isEmpty()) return undefined;
  const caller = await authenticate(credentials);
  const held = caller.ok ? holds.find(caller.value) : undefined;
  if (held === undefined) return undefined;
  await discardBody(request);
  return { ok: false, failure: held };
}

interface Content {
  readonly events: Events;
  readonly parameters: Record<string, string | number>;
}

async function readContent(headers: Headers, body: Body): Promise<Result<Content>> {
  if ("problem" in body) return failure(400, body.problem);
  const key = headers.get("Idempotency-Key");
  if (key !== null && (key.length < 1 || key.length > 255)) {
    return failure(400, "Idempotency-Key must have 1 to 255 characters");
  }
  const events = readEvents(new TextDecoder().decode(body.bytes));
  if (!events.ok) return events;
  return success({
    events: events.value,
    parameters: {
      p_bytes: body.bytes.length,
      ...key !== null && { p_idempotency_key: key, p_body_digest: await sha256Hex(body.bytes) },
    },
  });
}

function callerParameters(caller: Caller): Record<string, string> {
  return caller.kind === "api_key"
    ? { p_key_digest: caller.keyDigest }
    : { p_tenant_id: caller.tenantId };
}
