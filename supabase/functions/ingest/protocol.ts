import { type Failure, failure, type Result } from "../_shared/errors.ts";
import type { BodyLimits } from "./body.ts";
import type { Bytes } from "./bytes.ts";
import type { EventCollector, EventError } from "./collector.ts";
import { JsonReader } from "./json.ts";

/** A request as a protocol sees it, its body aside. */
export interface Incoming {
  readonly method: string;
  /** Below `ingest`, without a slash at its end. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

/** A body as it is read: its bytes, its text, and the JSON in it. */
export class Content {
  readonly #json: JsonReader;

  constructor(readonly bytes: Bytes) {
    this.#json = new JsonReader(bytes.length);
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }

  /** The value of a JSON text of this body; undefined where it is none. */
  parse(text: string): unknown {
    return this.#json.parse(text);
  }
}

/** An answer; headers for limits, CORS and Retry-After are added to it. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Bytes;
}

/** What became of the events. */
export interface Outcome {
  /** The database's own answer, where one commit took all. */
  readonly text: string;
  readonly ingested: number;
  readonly rejected: number;
  /** Records that are stored without a part of them, since they were too long. */
  readonly cut: number;
  /** The first of those that were rejected. */
  readonly errors: readonly EventError[];
  readonly bytes: number;
}

/** A body that was read. */
export interface Reading {
  readonly accepted: (outcome: Outcome) => Reply;
  /**
   * For protocols that answer for each event: some slices, from the first on, were committed, then
   * the database refused. `committed` counts the events of the body that are taken care of.
   */
  readonly overloaded?: (outcome: Outcome, committed: number, failure: Failure) => Reply;
}

/**
 * A protocol turns a request into events, and what became of them into the answer that its senders
 * know; nothing else.
 */
export interface Protocol {
  /** Allowed methods, for `Allow`. */
  readonly methods: string;
  readonly limits: BodyLimits;
  readonly maxEvents: number;
  /** The status for a request that names no key. */
  readonly statusWithoutCredentials: 400 | 401;
  /** Whether a body that is sent again is one that was sent before; natively only the sender says so. */
  readonly isRepeatKnown: boolean;
  /** What senders ask before they send, answered without looking at who asks. */
  readonly greet?: (incoming: Incoming) => Reply | undefined;
  /** A key that stands where this protocol alone has it. */
  readonly ownKey?: (incoming: Incoming) => string | undefined;
  readonly read: (
    incoming: Incoming,
    content: Content,
    events: EventCollector,
  ) => Result<Reading>;
  readonly refused: (incoming: Incoming, failure: Failure) => Reply;
  /**
   * For senders that send again what is refused of an event, and give up what is refused as a whole:
   * a refusal that passes, told of each event. Undefined for a body that says of none.
   */
  readonly refusedEach?: (
    incoming: Incoming,
    failure: Failure,
    content: Content,
  ) => Reply | undefined;
}

/** What receivers share; a protocol adds the reading and its own forms. */
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

export function plain(status: number, body: string): Reply {
  return { status, headers: { "Content-Type": "text/plain; charset=utf-8" }, body };
}

/** The failure's own words, as `{error}`. */
export function errorReply(_incoming: Incoming, { status, error }: Failure): Reply {
  return json(status, { error });
}

export function unreadable(what: string): Result<never> {
  return failure(400, what);
}

export function contentType(headers: Headers): string {
  return (headers.get("Content-Type") ?? "").split(";")[0].trim().toLowerCase();
}
