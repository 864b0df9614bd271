import { type Failure, failure, type Result } from "../_shared/errors.ts";
import type { BodyLimits } from "./read_body.ts";
import type { Bytes } from "./unpacked_bytes.ts";
import { type EventCollector, type EventError, maxErrors, sendAgain } from "./event_collector.ts";
import { JsonReader } from "./json_reader.ts";
import { utf16Of } from "./text_encoding.ts";

/** A request without its body, for a protocol. */
export interface Incoming {
  readonly method: string;
  /** The path below `ingest`, without a trailing slash. */
  readonly path: string;
  /** Only the parameters that `readParameters` lists. */
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

/** A body: its bytes, its text, and the JSON in it. */
export class Content {
  readonly #json: JsonReader;

  constructor(readonly bytes: Bytes, private readonly contentType: string | null = null) {
    this.#json = new JsonReader(bytes.length);
  }

  /** The text, decoded from UTF-16 if the bytes look like it (PowerShell, Windows), else from its charset or UTF-8. */
  get text(): string {
    const utf16 = utf16Of(this.bytes);
    const decoder = utf16 === undefined ? decoderOf(this.contentType) : new TextDecoder(utf16);
    return decoder.decode(this.bytes);
  }

  /** The value of a JSON text of this body; undefined if it is not JSON. */
  parse(text: string): unknown {
    return this.#json.parse(text);
  }
}

/** An unknown charset is read as UTF-8, so that at least the ASCII of events is kept. */
function decoderOf(contentType: string | null): TextDecoder {
  const charset = /;\s*charset\s*=\s*"?([\w:.-]{1,40})/i.exec(contentType ?? "")?.[1];
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** A protocol's answer, to which headers for limits, CORS and Retry-After are added. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Bytes;
}

/** The result of committing the events. */
export interface Outcome {
  /** The database's own answer, if one commit took everything. */
  readonly text: string;
  readonly ingested: number;
  readonly rejected: number;
  /** The number of shortened records. */
  readonly cut: number;
  /** The ingested events that the tenant's rules left out. */
  readonly dropped: number;
  /** The first rejected events. */
  readonly errors: readonly EventError[];
  readonly bytes: number;
}

/** How a protocol answers for a body that was read. */
export interface Reading {
  readonly accepted: (outcome: Outcome) => Reply;
  /**
   * For protocols that answer for each event: the database refused a slice after `committed` events of the body were
   * stored or rejected.
   */
  readonly overloaded?: (outcome: Outcome, committed: number, failure: Failure) => Reply;
}

/** A signature in place of a key: the HMAC-SHA256 of the body, as hex, with the hex SHA-256 of a key. */
export interface Signature {
  readonly keyId: string;
  readonly signature: string;
}

/** A protocol turns a request into events, and the outcome into the answer that its senders expect. */
export interface Protocol {
  /** Allowed methods, for `Allow`. */
  readonly methods: string;
  readonly limits: BodyLimits;
  readonly maxEvents: number;
  /** The status of a request without a key. */
  readonly statusWithoutCredentials: 400 | 401;
  /** Whether an equal request is a repeat. At the native endpoint only an Idempotency-Key makes it one. */
  readonly isRepeatKnown: boolean;
  /** Whether `accepted` names the number of stored events. If not, a request without any stored event is refused. */
  readonly saysWhatIsStored?: true;
  /** Answers a sender's probe before its first request, without credentials. */
  readonly greet?: (incoming: Incoming) => Reply | undefined;
  /** The key from a place that only this protocol has. */
  readonly ownKey?: (incoming: Incoming) => string | undefined;
  /** The signature of a sender that cannot send a key. */
  readonly signatureOf?: (incoming: Incoming) => Signature | undefined;
  /** Whether the request may come from `sendBeacon`, with a token in its body. */
  readonly isBeacon?: (incoming: Incoming) => boolean;
  readonly read: (incoming: Incoming, content: Content, events: EventCollector) => Result<Reading>;
  readonly refused: (incoming: Incoming, failure: Failure) => Reply;
  /**
   * For senders that retry refused events but drop a request that is refused as a whole: refuses each event for now.
   * Undefined if the body has no events.
   */
  readonly refusedEach?: (
    incoming: Incoming,
    failure: Failure,
    content: Content,
  ) => Reply | undefined;
}

/** Defaults of all receivers. */
export const receiver = {
  methods: "POST, OPTIONS",
  limits: { sentBytes: 5 * 1024 * 1024, bytes: 8 * 1024 * 1024 },
  maxEvents: 20_000,
  statusWithoutCredentials: 401,
  isRepeatKnown: true,
} as const;

export const missingCredentials = "Missing authorization header";

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** The answer of the native endpoint. */
export function counts(
  { ingested, rejected, cut, dropped, errors }: Omit<Outcome, "text" | "bytes">,
): Readonly<Record<string, unknown>> {
  return {
    success: ingested > 0 || rejected === 0,
    ingested,
    rejected,
    ...cut > 0 && { cut },
    ...dropped > 0 && { dropped },
    ...rejected > 0 && { errors: errors.slice(0, maxErrors) },
  };
}

/** A failure, and its first event. */
export interface EventFailure extends Failure {
  readonly event?: number;
}

/** Returns the refusal of a request if none of its events was stored; undefined if one was, or if it had no events. */
export function nothingStored({ ingested, rejected, errors }: Outcome): EventFailure | undefined {
  if (ingested > 0 || rejected === 0) return undefined;
  const [first] = errors;
  const what = rejected === 1
    ? "The event was not stored"
    : `None of the ${rejected} events was stored`;
  if (first === undefined) return { status: 400, error: what };
  return {
    status: errors.some(({ code }) => code === sendAgain) ? 503 : 400,
    error: `${what}${rejected === 1 ? ":" : ". The first:"} ${first.message}`,
    event: first.index,
  };
}

export function plain(status: number, body: string): Reply {
  return { status, headers: { "Content-Type": "text/plain; charset=utf-8" }, body };
}

/** An error with its cause, which the native endpoint puts into WWW-Authenticate. */
export function explained({ error, refusal }: Failure): string {
  return refusal === undefined ? error : `${error}: ${refusal}`;
}

export function errorReply(_incoming: Incoming, failure: Failure): Reply {
  return json(failure.status, { error: explained(failure) });
}

export function unreadable(what: string): Result<never> {
  return failure(400, what);
}

export function contentType(headers: Headers): string {
  return (headers.get("Content-Type") ?? "").split(";")[0].trim().toLowerCase();
}
