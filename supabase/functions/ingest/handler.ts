import type { Authenticate, Caller, Credentials, Project } from "../_shared/auth.ts";
import { callerKey } from "../_shared/auth.ts";
import type { CallDatabase } from "../_shared/database.ts";
import { findCredentials, whereKeysGo } from "../_shared/credentials.ts";
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
  challenge,
  clientHeaders,
  corsHeaders,
  methodNotAllowed,
  preflight,
} from "../_shared/http.ts";
import { bodyTimeoutMs as timeForBodies, takingBodies } from "../_shared/request_body.ts";
import { besideBody, readParameters } from "./repeat_digest.ts";
import { type Body, readBody } from "./read_body.ts";
import type { Bytes } from "./unpacked_bytes.ts";
import { EventCollector, TooManyEvents, TooMuchShared } from "./event_collector.ts";
import { askWhoCalls, type Committed, commitUnlessOwn } from "./commit_request.ts";
import { commitForTenants } from "./commit_for_tenants.ts";
import { type Commit, createGroupCommit } from "./group_commit.ts";
import { createRateLimitCache, type RateLimitCache } from "./rate_limit_cache.ts";
import { Budget } from "../_shared/ingest_rules/budget.ts";
import type { SealedSecrets } from "../_shared/sealed_secrets.ts";
import { createRuleCache, type RuleCache } from "./tenant_rules.ts";
import { ExcessiveJson } from "./json_reader.ts";
import { takeLeadingToken } from "./leading_token.ts";
import {
  Content,
  type Incoming,
  json,
  missingCredentials,
  nothingStored,
  type Protocol,
  type Reading,
  type Reply,
} from "./protocol.ts";
import { createOwnTraffic, type DrainSender } from "./own_drain_events.ts";
import { pathBelowIngest, protocolOf } from "./routes.ts";
import { findSigner } from "./signed_sender.ts";
import { TenantEvents, tenantOfHeader } from "./tenant_events.ts";

export interface IngestDependencies {
  readonly authenticate: Authenticate;
  readonly callDatabase: CallDatabase;
  /** Called when pg_cron seems to have stopped. Must return at once. */
  readonly wakeWriter: () => void;
  /** The id of this deployment, if the platform has one. */
  readonly deploymentId?: string;
  /** Opens the keys of ingest rules. Without it, their masks have no hashes. */
  readonly secrets?: SealedSecrets;
  /** The time limit for a body; for tests. */
  readonly bodyTimeoutMs?: number;
}

/** The context of a request. */
interface Context {
  readonly authenticate: Authenticate;
  readonly callDatabase: CallDatabase;
  readonly commit: Commit;
  readonly rateLimits: RateLimitCache;
  readonly rules: RuleCache;
  readonly senderOf: (key: string) => DrainSender;
  readonly bodyTimeoutMs: number;
}

/** A protocol's answer, or the refusal, and the database's headers. */
type Answer = { readonly reply: Reply; readonly notes?: Notes } | { readonly failure: Failure };

export function createIngestHandler(
  dependencies: IngestDependencies,
): (request: Request) => Promise<Response> {
  const { authenticate, callDatabase, wakeWriter, deploymentId, secrets } = dependencies;
  const { bodyTimeoutMs = timeForBodies } = dependencies;
  const context: Context = {
    authenticate,
    callDatabase,
    commit: createGroupCommit(callDatabase),
    rateLimits: createRateLimitCache(),
    rules: createRuleCache(secrets),
    senderOf: createOwnTraffic(deploymentId),
    bodyTimeoutMs,
  };
  return takingBodies(async (request) => {
    const response = await answered(request, context, wakeWriter);
    // Thrown if the rest of the body was not read.
    if (response.status === 408 || response.status === 413) {
      response.headers.set("Connection", "close");
    }
    return response;
  }, bodyTimeoutMs);
}

async function answered(
  request: Request,
  context: Context,
  wakeWriter: IngestDependencies["wakeWriter"],
): Promise<Response> {
  const url = new URL(request.url);
  const incoming: Incoming = {
    method: request.method,
    path: pathBelowIngest(url.pathname),
    query: readParameters(url.searchParams),
    headers: request.headers,
  };
  const protocol = protocolOf(incoming);
  if (protocol === undefined) {
    return respond(json(404, { error: `No receiver at this path: ${incoming.path}` }));
  }
  if (request.method === "OPTIONS") {
    return preflight(protocol.methods, request.headers.get("Access-Control-Request-Headers"));
  }
  const greeting = protocol.greet?.(incoming);
  if (greeting !== undefined) return respond(greeting);
  if (!protocol.methods.split(", ").includes(request.method)) {
    return methodNotAllowed(request.method, protocol.methods);
  }

  let answer: Answer;
  const seen: Seen = {};
  try {
    answer = await ingest(request, incoming, protocol, context, seen);
  } catch (error) {
    logFailure("ingest failed", { reason: describeError(error) });
    answer = failed(unavailable("The service is unavailable, try again"));
  }
  if ("failure" in answer) answer = await toldOfEach(answer.failure, incoming, protocol, seen);
  const notes = "reply" in answer ? answer.notes : answer.failure.notes;
  if (notes?.["x-logloom-writer"] === "silent") wakeWriter();
  if ("reply" in answer) return respond(answer.reply, clientHeaders(notes));
  const { status, error, retryAfter, refusal } = answer.failure;
  const isMissing = error === missingCredentials;
  return respond(protocol.refused(incoming, answer.failure), {
    ...clientHeaders(notes),
    ...retryAfter !== undefined && { "Retry-After": retryAfter },
    ...(isMissing || status === 401) && { "WWW-Authenticate": challenge(isMissing, refusal) },
  });
}

function respond(reply: Reply, headers: Record<string, string> = {}): Response {
  return new Response(reply.body, {
    status: reply.status,
    headers: { ...corsHeaders, ...headers, ...reply.headers },
  });
}

/** The parts of a request that are known when it is refused. */
interface Seen {
  body?: Bytes;
}

/** The refusal for each event: some senders retry refused events, but drop a request that is refused as a whole. */
async function toldOfEach(
  failure: Failure,
  incoming: Incoming,
  protocol: Protocol,
  { body }: Seen,
): Promise<Answer> {
  if (!isPassing(failure) || body === undefined) return { failure };
  const content = new Content(body, incoming.headers.get("Content-Type"));
  const reply = protocol.refusedEach?.(incoming, failure, content);
  if (reply === undefined) return { failure };
  await overloadPause();
  return { reply, notes: failure.notes };
}

function isPassing({ status }: Failure): boolean {
  return status === 429 || status === 503;
}

function failed(result: Result<unknown>): Answer {
  if (result.ok) throw new Error("not a failure");
  return { failure: result.failure };
}

/** Limits of a body that is read before authentication. A browser's beacon cannot be larger. */
const beaconLimits = { sentBytes: 65_536, bytes: 65_536 };

async function ingest(
  request: Request,
  incoming: Incoming,
  protocol: Protocol,
  context: Context,
  seen: Seen,
): Promise<Answer> {
  const { authenticate, callDatabase, commit, rateLimits, bodyTimeoutMs } = context;
  let body: Result<Body> | undefined;
  const query = new URL(request.url).searchParams;
  const ownKey = protocol.ownKey?.(incoming);
  let credentials = findCredentials(incoming.headers, query, ownKey);
  if (credentials === undefined && protocol.isBeacon?.(incoming)) {
    ({ body, credentials } = takeToken(await readBody(request, beaconLimits, bodyTimeoutMs)));
  }
  const signature = credentials === undefined ? protocol.signatureOf?.(incoming) : undefined;
  if (credentials === undefined && signature === undefined) {
    return {
      failure: {
        status: protocol.statusWithoutCredentials,
        error: missingCredentials,
        refusal: whereKeysGo(incoming.headers, query),
      },
    };
  }
  const held = credentials && await heldAnswer(credentials, context);
  if (held !== undefined && protocol.refusedEach === undefined) return { failure: held };
  if (body === undefined) {
    body = await readBody(request, protocol.limits, bodyTimeoutMs);
    // A header has the credentials already, but the token must not be stored.
    if (protocol.isBeacon !== undefined) ({ body } = takeToken(body));
  }
  if (body.ok && "bytes" in body.value) seen.body = body.value.bytes;
  if (held !== undefined) return { failure: held };
  const caller = signature === undefined
    ? await authenticate(credentials!)
    : await findSigner(signature, body, callDatabase);
  if (!body.ok) {
    const known = caller.ok ? await askWho(caller.value, commit) : caller;
    return { failure: known.ok ? withNotes(body.failure, known.notes) : body.failure };
  }
  if (!caller.ok) return failed(caller);

  const length = "problem" in body.value ? 0 : body.value.bytes.length;
  const hops = hopsOf(incoming.headers);
  const events = caller.value.kind === "project"
    ? new TenantEvents(
      protocol.maxEvents,
      length,
      tenantOfHeader(incoming.headers.get("X-Logloom-Tenant")),
      hops,
    )
    : new EventCollector(protocol.maxEvents, length, hops);
  events.sender = context.senderOf(callerKey(caller.value));
  const type = incoming.headers.get("Content-Type");
  const content = "problem" in body.value
    ? failure(body.value.status, body.value.problem)
    : read(incoming, protocol, new Content(body.value.bytes, type), events);
  if (!content.ok || "problem" in body.value) {
    // Only the database knows whether a key is active. Until then the answer says nothing about the body.
    const known = await askWho(caller.value, commit);
    if (!known.ok || content.ok) return failed(known);
    return { failure: withNotes(content.failure, known.notes) };
  }

  const { reading, idempotencyKey } = content.value;
  const sent = {
    body: body.value.bytes,
    besideBody: besideBody(incoming, ownKey),
    idempotencyKey,
    isRepeatKnown: protocol.isRepeatKnown,
    isPatient: protocol.isRepeatKnown && reading.overloaded === undefined,
    rules: context.rules,
    ruleBudget: new Budget(),
  };
  let committed: Committed;
  if (caller.value.kind === "project") {
    committed = await commitForTenants({ ...sent, events: events as TenantEvents }, commit);
  } else {
    committed = await commitUnlessOwn({ ...sent, caller: caller.value, events }, commit);
    rateLimits.remember(caller.value, committed.notes);
  }
  const { outcome, notes } = committed;
  if (committed.failure === undefined) {
    const none = protocol.saysWhatIsStored ? undefined : nothingStored(outcome);
    if (none !== undefined) return { failure: withNotes(none, notes) };
    return { reply: reading.accepted(outcome), notes };
  }
  if (reading.overloaded === undefined || !isPassing(committed.failure)) {
    return { failure: committed.failure };
  }
  await overloadPause();
  return { reply: reading.overloaded(outcome, committed.events, committed.failure), notes };
}

/** Splits a token at the beginning from a body. */
function takeToken(body: Result<Body>): {
  readonly body: Result<Body>;
  readonly credentials: Credentials | undefined;
} {
  const taken = body.ok && "bytes" in body.value ? takeLeadingToken(body.value.bytes) : undefined;
  return {
    body: taken === undefined ? body : success({ bytes: taken.body }),
    credentials: taken?.credentials,
  };
}

/** How often log streams passed these events on; undefined if they did not. */
function hopsOf(headers: Headers): number | undefined {
  const said = headers.get("Logloom-Stream-Hops")?.split(",").map((hops) => hops.trim());
  if (said === undefined) return undefined;
  // An unreadable count is taken as the greatest, so that loops end.
  const hops = said.map((one) => /^\d{1,2}$/.test(one) ? Number(one) : mostHops);
  return Math.max(...hops) || undefined;
}

/** No stream passes an event on this often. */
const mostHops = 99;

/** A pause before answering an overload, because some senders retry at once. */
const overloadPauseMs = 1000;

function overloadPause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, overloadPauseMs));
}

interface Read {
  readonly reading: Reading;
  readonly idempotencyKey: string | undefined;
}

function read(
  incoming: Incoming,
  protocol: Protocol,
  content: Content,
  events: EventCollector,
): Result<Read> {
  const key = incoming.headers.get("Idempotency-Key");
  if (key !== null && (key.length < 1 || key.length > 255)) {
    return failure(400, "Idempotency-Key must have 1 to 255 characters");
  }
  try {
    const reading = protocol.read(incoming, content, events);
    if (!reading.ok) return reading;
    return success({ reading: reading.value, idempotencyKey: key ?? undefined });
  } catch (error) {
    if (error instanceof ExcessiveJson) return failure(400, error.message);
    if (error instanceof TooMuchShared) {
      return failure(413, "Request too large: its events share too much data to copy into each");
    }
    if (!(error instanceof TooManyEvents)) throw error;
    const { maxEvents } = protocol;
    return failure(413, `Too many records: more than ${maxEvents} (max ${maxEvents})`);
  }
}

/** Adds the database's headers for the caller to a failure of this function. */
function withNotes(told: Failure, notes: Notes | undefined): Failure {
  return { ...told, notes };
}

/** Asks the database about a caller. A project's secret key is verified already. */
async function askWho(caller: Caller | Project, commit: Commit): ReturnType<Commit> {
  return caller.kind === "project" ? success("") : await askWhoCalls(caller, commit);
}

/** The refusal of a sender above its rate, before its body is parsed. */
async function heldAnswer(
  credentials: Credentials,
  { authenticate, rateLimits }: Context,
): Promise<Failure | undefined> {
  if (rateLimits.isEmpty()) return undefined;
  const caller = await authenticate(credentials);
  return caller.ok && caller.value.kind !== "project" ? rateLimits.find(caller.value) : undefined;
}
