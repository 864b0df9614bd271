import { type Caller, callerKey } from "../_shared/auth.ts";
import { type CallDatabase, databaseAway, readAnswer } from "../_shared/database.ts";
import { describeError, logFailure, type Result, unavailable } from "../_shared/errors.ts";
import { requestSeparator } from "./request_text.ts";

/**
 * Commits a request for `ingest_text`. A request that may share its transaction can be committed together with others
 * of its caller. Never rejects.
 */
export type Commit = (
  caller: Caller,
  request: string,
  mayShare: boolean,
) => Promise<Result<string>>;

/** A longer request gets its own call, because it would delay small ones. */
const maxSharedLength = 16_384;
const maxRequestsInCall = 64;
/** Concurrent calls for a caller's small requests. The second one begins only if the first hangs. */
const maxCalls = 2;
/** A call that takes longer hangs. Calls on a busy machine are shorter. */
const hangsMs = 200;
/** How long the next call waits at most for senders that were just answered. */
const returnsMs = 5;
/** A request that waited this long gets 503: the database does not answer, and others wait too. */
const maxWaitMs = 10_000;

interface Waiting {
  readonly request: string;
  readonly since: number;
  readonly settle: (answer: Result<string>) => void;
}

interface Line {
  readonly key: string;
  calls: number;
  /** The pause before the next call; it ends once `until` requests wait. */
  pause: { readonly until: number; readonly end: () => void } | undefined;
  /** Set while requests wait. */
  timer: ReturnType<typeof setTimeout> | undefined;
  readonly waiting: Waiting[];
}

/**
 * A small request goes to the database at once if no call of its caller is under way. Otherwise it waits for that call
 * to end. All waiting requests then share the next call and its commit, so they pay the cost of a call once. If several
 * send at the same time, the next call waits a moment for the senders that were just answered. Nobody waits for a call
 * that hangs.
 */
export function createGroupCommit(
  callDatabase: CallDatabase,
  now: () => number = () => performance.now(),
  patienceMs = hangsMs,
  returnMs = returnsMs,
): Commit {
  const lines = new Map<string, Line>();

  async function together(requests: string[]): Promise<Result<string>[]> {
    try {
      const body = requests.join(requestSeparator);
      return readAnswers(await callDatabase("ingest_text", body, "text/plain"), requests.length);
    } catch (error) {
      logFailure("requests could not be committed", { reason: describeError(error) });
      return requests.map(() => unavailable(databaseAway));
    }
  }

  function nextGroup(line: Line): Waiting[] {
    const { waiting } = line;
    clearTimeout(line.timer);
    line.timer = undefined;
    while (waiting.length > 0 && now() - waiting[0].since > maxWaitMs) {
      waiting.shift()?.settle(unavailable(databaseAway));
    }
    const group = waiting.splice(0, maxRequestsInCall);
    if (waiting.length > 0) awaitCall(line);
    return group;
  }

  /** Begins another call if requests wait for a call that hangs. */
  function awaitCall(line: Line): void {
    line.timer ??= setTimeout(() => {
      line.timer = undefined;
      if (line.calls < maxCalls) serve(line);
    }, patienceMs);
  }

  /** Waits for senders that were just answered, because most send again at once: one call for all costs less than two. */
  async function awaitSenders(line: Line, senders: number): Promise<void> {
    if (returnMs === 0 || senders <= Math.max(line.waiting.length, 1)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, returnMs);
      line.pause = { until: senders, end: () => (clearTimeout(timer), resolve()) };
    });
    line.pause = undefined;
  }

  async function serve(line: Line): Promise<void> {
    line.calls++;
    for (let group = nextGroup(line); group.length > 0; group = nextGroup(line)) {
      const answers = await together(group.map(({ request }) => request));
      for (const [n, { settle }] of group.entries()) settle(answers[n]);
      await awaitSenders(line, Math.min(group.length + line.waiting.length, maxRequestsInCall));
    }
    line.calls--;
    if (line.calls === 0) lines.delete(line.key);
  }

  return async (caller, request, mayShare) => {
    if (!mayShare || request.length > maxSharedLength) return (await together([request]))[0];
    const key = callerKey(caller);
    const line = lines.get(key) ??
      { key, calls: 0, pause: undefined, timer: undefined, waiting: [] };
    lines.set(key, line);
    return await new Promise((settle) => {
      line.waiting.push({ request, since: now(), settle });
      if (line.pause !== undefined && line.waiting.length >= line.pause.until) line.pause.end();
      if (line.calls === 0) serve(line);
      else awaitCall(line);
    });
  };
}

interface AnswerOfOne {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** JSON text. */
  readonly body: string;
}

/** The answers of a shared call, one for each request. If the call failed, each request fails. */
function readAnswers(answer: Result<string>, count: number): Result<string>[] {
  if (!answer.ok) return Array.from({ length: count }, () => answer);
  const answers: AnswerOfOne[] = JSON.parse(answer.value);
  if (answers.length !== count) throw new Error("not an answer for each request");
  return answers.map(({ status, headers, body }) =>
    status === 412
      ? { ok: false, failure: { status, error: "", rules: body } }
      : readAnswer("ingest_text", status, new Headers(headers), body)
  );
}
