import { type Caller, sha256Hex } from "../_shared/auth.ts";
import { type Failure, type Notes, unavailable } from "../_shared/errors.ts";
import type { Budget } from "../_shared/ingest_rules/budget.ts";
import type { Bytes } from "./unpacked_bytes.ts";
import { type Batch, type EventCollector, type EventError } from "./event_collector.ts";
import { cutRecords } from "./cut_records.ts";
import type { Commit } from "./group_commit.ts";
import { counts, type Outcome } from "./protocol.ts";
import { batchText } from "./request_text.ts";
import { type RuleCache, ruleParameters, type TenantRules } from "./tenant_rules.ts";

export interface Request {
  readonly caller: Caller;
  readonly body: Bytes;
  /** The parts of the request other than its body that decide its records. */
  readonly besideBody: string;
  /** The number of body bytes to meter for these events. Default: the whole body. */
  readonly bytes?: number;
  readonly events: EventCollector;
  /** The sender's Idempotency-Key. */
  readonly idempotencyKey: string | undefined;
  /** Whether an equal request counts as a repeat. Only possible if its events have their own times. */
  readonly isRepeatKnown: boolean;
  /** Whether to wait briefly for an unreachable database, because the sender does not retry. */
  readonly isPatient: boolean;
  readonly rules: RuleCache;
  /** The time for the rules, shared by all slices and tenants of a body. */
  readonly ruleBudget: Budget;
}

export interface Committed {
  readonly outcome: Outcome;
  /** The error, if not all slices were committed. */
  readonly failure: Failure | undefined;
  /** The number of events that are settled: committed or rejected. */
  readonly events: number;
  readonly notes: Notes | undefined;
}

/** The pauses between attempts while the database is unreachable. */
const patienceMs = [300, 700, 1000];

/** How long a key counts as known after a successful call. */
const knownMs = 60_000;

/**
 * Commits the events of a request. If all are Logloom's own traffic, calls the database only once a minute, because the
 * drain would deliver a line for each call.
 */
export async function commitUnlessOwn(request: Request, commit: Commit): Promise<Committed> {
  const { events, body } = request;
  if (events.areOwn && events.sender.knownUntil > Date.now()) return nothing(body.length);
  const committed = await commitEvents(request, commit);
  if (committed.failure === undefined) events.sender.knownUntil = Date.now() + knownMs;
  return committed;
}

/** Commits the events of a request, slice by slice; the first refused slice ends it. */
export async function commitEvents(request: Request, commit: Commit): Promise<Committed> {
  const { caller, events, body } = request;
  const slices = events.slices(request.bytes ?? body.length);
  const repeat = repeatParameters(request);
  // A retry must be recognisable as a repeat. If a time may be guessed wrong, only the sender's key identifies a
  // repeat.
  const mayRetry = repeat !== undefined &&
    (request.idempotencyKey !== undefined || !events.mayGuessWrong);
  const answers: string[] = [];
  let notes: Notes | undefined;
  let committed = 0;
  for (const [n, slice] of slices.entries()) {
    const parameters = {
      ...callerParameters(caller),
      p_bytes: slice.bytes,
      ...repeat,
      ...slices.length > 1 && { p_slice: n },
    };
    const answer = await patiently(
      ruledCommit(request, slice.batch, parameters, repeat === undefined, commit),
      request.isPatient && mayRetry ? patienceMs : [],
    );
    notes = answer.ok ? answer.notes : answer.failure.notes;
    if (!answer.ok) {
      const outcome = new Answers(answers, body.length);
      return { outcome, failure: answer.failure, events: committed, notes };
    }
    answers.push(answer.value);
    committed += slice.batch.p_ts.length;
  }
  return {
    outcome: new Answers(answers, body.length),
    failure: undefined,
    events: committed,
    notes,
  };
}

/** Builds the result if nothing was committed. */
export function nothing(bytes: number, failure?: Failure): Committed {
  return { outcome: new Answers([], bytes), failure, events: 0, notes: failure?.notes };
}

function callerParameters(caller: Caller): Record<string, unknown> {
  return caller.kind === "api_key"
    ? { p_key_digest: caller.keyDigest }
    : { p_tenant_id: caller.tenantId, p_claims: caller.claims };
}

/** A longer text probably has a record that is too long, so it is cut before the database gets it. */
const unaskedLength = 1024 * 1024;

/** The most commits of a slice while the tenant's rules change. */
const maxRounds = 10;

/**
 * Commits a slice under the rules that are known for its caller. If the database has other rules, it stores nothing and
 * answers with its rules. The slice is then committed again under those.
 */
function ruledCommit(
  { caller, rules, ruleBudget }: Request,
  batch: Batch,
  parameters: Record<string, unknown>,
  mayShare: boolean,
  commit: Commit,
): () => Promise<Answer> {
  let known: TenantRules | undefined;
  let attempt: (() => Promise<Answer>) | undefined;
  const underRules = ({ version, apply }: TenantRules) => {
    const ruled = apply(batch, ruleBudget);
    const told = { ...parameters, ...ruleParameters(version, ruled) };
    return sliceCommit(caller, ruled.batch, told, mayShare, commit);
  };
  return async () => {
    for (let round = 0; round < maxRounds; round++) {
      const now = rules.find(caller);
      if (attempt === undefined || now !== known) {
        known = now;
        attempt = now === undefined
          ? sliceCommit(caller, batch, parameters, mayShare, commit)
          : underRules(now);
      }
      const answer = await attempt();
      if (answer.ok || answer.failure.rules === undefined) return answer;
      await rules.learn(caller, answer.failure.rules);
    }
    return unavailable("The ingest rules of this tenant are changing, try again");
  };
}

/**
 * Commits a slice. The database refuses a slice with a record that is too large. Only then, or if the whole text is
 * long, asks for the limit, cuts the records to it and sends the slice with the cut records.
 */
function sliceCommit(
  caller: Caller,
  batch: Batch,
  parameters: Record<string, unknown>,
  mayShare: boolean,
  commit: Commit,
): () => Promise<Answer> {
  const spans = spansIn(batch);
  if (spans > 0) parameters = { ...parameters, p_spans: spans };
  let request = batchText(batch, parameters);
  let isCut = false;
  return async () => {
    if (isCut || request.length <= unaskedLength) {
      const answer = await commit(caller, request, mayShare);
      if (isCut || answer.ok || answer.failure.status !== 413) return answer;
    }
    const known = await askWhoCalls(caller, commit);
    if (!known.ok) return known;
    const { max_event_bytes: maxBytes, max_event_values: maxValues }: Limits = JSON.parse(
      known.value,
    );
    const cut = cutRecords(batch, maxBytes, maxValues);
    request = batchText(cut, parameters);
    isCut = cut.p_cut !== undefined;
    return await commit(caller, request, mayShare);
  };
}

/** How many events are spans or events of spans, which may use only a share of the tenant's month. */
function spansIn({ p_attrs: attrs = [] }: Batch): number {
  let spans = 0;
  for (const one of attrs) if (one?.kind === "span" || one?.kind === "span_event") spans++;
  return spans;
}

interface Limits {
  /** The bytes that an event may have, so that its record keeps the limit. */
  readonly max_event_bytes: number;
  readonly max_event_values: number;
}

/** Asks whether the database knows the caller. The answer has the caller's limits. */
export function askWhoCalls(caller: Caller, commit: Commit): Promise<Answer> {
  return commit(caller, JSON.stringify(callerParameters(caller)), true);
}

/** The idempotency key: the sender's, or the request's digest if an equal request must be a repeat. */
function repeatParameters(request: Request) {
  const { idempotencyKey, isRepeatKnown, events } = request;
  if (idempotencyKey !== undefined) {
    return { p_idempotency_key: idempotencyKey, p_body_digest: digestOf(request) };
  }
  if (!isRepeatKnown || !events.haveOwnTimes || events.count === 0) return undefined;
  const digest = digestOf(request);
  return { p_idempotency_key: `sha256:${digest}`, p_body_digest: digest };
}

function digestOf({ body, besideBody }: Request): string {
  const digest = sha256Hex(body);
  return besideBody === "" ? digest : sha256Hex(`${digest} ${besideBody}`);
}

type Answer = Awaited<ReturnType<Commit>>;

/** Retries while the database is unreachable. */
async function patiently(
  attempt: () => Promise<Answer>,
  pauses: readonly number[],
): Promise<Answer> {
  let answer = await attempt();
  for (const pause of pauses) {
    if (answer.ok || answer.failure.status !== 503) break;
    await new Promise((resolve) => setTimeout(resolve, pause));
    answer = await attempt();
  }
  return answer;
}

interface AnswerOfSlice {
  readonly ingested: number;
  readonly rejected: number;
  readonly cut?: number;
  readonly dropped?: number;
  readonly errors?: readonly EventError[];
}

/** The answers of all slices as one, parsed only if a protocol needs them. */
class Answers implements Outcome {
  #parsed: AnswerOfSlice[] | undefined;

  constructor(readonly texts: readonly string[], readonly bytes: number) {}

  get text(): string {
    return this.texts.length === 1 ? this.texts[0] : JSON.stringify(counts(this));
  }

  get ingested(): number {
    return this.#answers.reduce((sum, { ingested }) => sum + ingested, 0);
  }

  get rejected(): number {
    return this.#answers.reduce((sum, { rejected }) => sum + rejected, 0);
  }

  get cut(): number {
    return this.#answers.reduce((sum, { cut }) => sum + (cut ?? 0), 0);
  }

  get dropped(): number {
    return this.#answers.reduce((sum, { dropped }) => sum + (dropped ?? 0), 0);
  }

  get errors(): readonly EventError[] {
    return this.#answers.flatMap(({ errors }) => errors ?? []);
  }

  get #answers(): AnswerOfSlice[] {
    return this.#parsed ??= this.texts.map((text) => JSON.parse(text));
  }
}
