import { corsHeaders } from "../../_shared/http.ts";
import type { Reader } from "../reader.ts";
import type { ReadDatabase } from "../database.ts";
import { problem } from "../error_answer.ts";
import type { Asked, Protocol } from "../protocol.ts";
import { parametersOf } from "./operation.ts";

/** A response ends with the page that reaches a limit. A hosted isolate ends after 1 s of processor time. */
const maxRecords = 50_000;
const maxBytes = 32_000_000;
const maxProcessorMs = 400;
/** How long pages are read. A rare text needs many pages, and a hosted function ends after 150 s. */
const maxMs = 60_000;
/** Bytes that gzip compresses in a millisecond of processor time. */
const gzipSpeed = 40_000;
/** How long a page waits for a free search slot. */
const patienceMs = 5_000;

const types = { ndjson: "application/x-ndjson", csv: "text/csv; charset=utf-8; header=present" };

interface Page {
  readonly lines: Uint8Array<ArrayBuffer>;
  readonly records: number;
  readonly cursor: string;
  readonly next_cursor: string | null;
}

interface Last {
  readonly complete?: true;
  readonly error?: string;
  readonly next_cursor?: string | null;
}

type Format = keyof typeof types;
export type Parameters = { readonly [name: string]: string | undefined } & { format: Format };
export type AskPage = (cursor?: string, after?: string) => Promise<Response>;
type PagesOf = (reader: Reader, callDatabase: ReadDatabase, parameters: Parameters) => AskPage;

/**
 * Answers GET, or POST with the parameters as JSON, by NDJSON or CSV. Reads pages one after the other; the next page is
 * read while one is sent.
 */
export const exportOf = (names: readonly string[], pagesOf: PagesOf): Protocol => ({
  methods: "GET, POST, OPTIONS",
  async answer({ request, reader, callDatabase }: Asked): Promise<Response> {
    if (reader instanceof Response) return reader;
    const parameters = await parametersIn(request, names);
    if (parameters instanceof Response) return parameters;
    const { format } = parameters;
    const ask = pagesOf(reader, callDatabase, parameters);
    const first = await ask(parameters.cursor, parameters.after);
    if (first.status !== 200) return first;
    const page = pageIn(await first.arrayBuffer());
    if (page.next_cursor === null && page.lines.length === 0 && format === "csv") {
      return new Response(null, { status: 204, headers: { ...corsHeaders } });
    }
    const isGzipped = acceptsGzip(request.headers.get("Accept-Encoding"));
    const body = streamOf(page, ask, format === "ndjson", isGzipped);
    return new Response(isGzipped ? body.pipeThrough(new CompressionStream("gzip")) : body, {
      headers: {
        ...corsHeaders,
        "Access-Control-Expose-Headers": "X-Logloom-Cursor",
        "Content-Type": types[format],
        "X-Logloom-Cursor": page.cursor,
        ...isGzipped && { "Content-Encoding": "gzip", Vary: "Accept-Encoding" },
      },
    });
  },
});

/** `/v1/export`: records, by pages of export_logs. */
export const exported: Protocol = exportOf(
  ["query", "from", "to", "format", "order", "cursor", "after"],
  (reader, callDatabase, { query, from, to, format, order }) => (cursor, after) => {
    const call = {
      p_query_dsl: query,
      p_ts_from: from,
      p_ts_to: to,
      // Records as JSON save a JSON string around them.
      p_format: format === "ndjson" ? "json" : format,
      p_order: order,
      p_cursor: cursor,
      p_after: after,
    };
    return callDatabase(reader, "export_logs", JSON.stringify(call));
  },
);

async function parametersIn(
  request: Request,
  names: readonly string[],
): Promise<Parameters | Response> {
  let given: Record<string, unknown>;
  if (request.method === "POST") {
    const text = await parametersOf(request);
    if (text instanceof Response) return text;
    given = JSON.parse(text);
  } else {
    given = Object.fromEntries(new URL(request.url).searchParams);
  }
  const parameters: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(given)) {
    const known = names.find((one) => one === name);
    if (known === undefined) {
      return problem(400, `Unknown parameter: ${name.slice(0, 60)}`, {
        name: "reading.parameter_is_unknown",
        hint: `Take ${names.join(", ")}.`,
      });
    }
    if (value === null || value === "") continue;
    if (typeof value !== "string") {
      return problem(400, `Invalid ${name}: a text`, { name: "reading.parameter_is_invalid" });
    }
    // A plus in an address is a space unless it is written %2B.
    parameters[known] = known === "after" ? value.replace(" ", "+") : value;
  }
  const { format = "ndjson" } = parameters;
  return isFormat(format)
    ? { ...parameters, format }
    : problem(400, "Invalid format: ndjson or csv", { name: "search.format_is_unknown" });
}

function isFormat(format: string): format is Format {
  return Object.hasOwn(types, format);
}

/** Whether a client accepts gzip: it names gzip, and its quality value is not 0. */
function acceptsGzip(accepted: string | null): boolean {
  return /(?:^|[\s,])gzip\b(?!\s*;\s*q=0(?:\.0*)?(?:\s*,|\s*$))/i.test(accepted ?? "");
}

const logsMember = '"logs":[';

/** The lines of a page: its text, or its records, which each begin a line of the JSON. */
function pageIn(answer: ArrayBuffer): Page {
  const bytes = new Uint8Array(answer);
  // The members before the records are short.
  const head = new TextDecoder().decode(bytes.subarray(0, 4096));
  const at = /^[^[]*"logs":\[/.exec(head)?.[0].length;
  if (at === undefined) {
    const { text, ...page } = JSON.parse(new TextDecoder().decode(bytes));
    return { ...page, lines: new TextEncoder().encode(text) };
  }
  const page = JSON.parse(`${head.slice(0, at - logsMember.length)}"logs":null}`);
  const lines = ndjsonOf(bytes, at, bytes.lastIndexOf(closingBracket));
  if (lines.count !== page.records) throw new Error("records are not in lines");
  return { ...page, lines: lines.bytes };
}

const newline = 0x0a;
const closingBracket = 0x5d;
const closingBrace = 0x7d;
const openingBrace = 0x7b;

/** Turns `{…}, \n {…}` from `start` to `end` into NDJSON, in the same memory. */
function ndjsonOf(bytes: Uint8Array<ArrayBuffer>, start: number, end: number) {
  let length = 0;
  let count = 0;
  for (let from = start; from < end; count++) {
    // A record has no line break, because JSON escapes them.
    const next = bytes.indexOf(newline, from);
    const stop = next === -1 || next > end ? end : next;
    const first = bytes.indexOf(openingBrace, from);
    const last = bytes.lastIndexOf(closingBrace, stop);
    if (first === -1 || first > last) break;
    bytes.copyWithin(length, first, last + 1);
    length += last + 1 - first;
    bytes[length++] = newline;
    from = stop + 1;
  }
  return { bytes: bytes.subarray(0, length), count };
}

function streamOf(
  first: Page,
  ask: AskPage,
  isNdjson: boolean,
  isGzipped: boolean,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const began = performance.now();
  let page: Page = first;
  let records = 0;
  let bytes = 0;
  let processorMs = 0;
  let isOver = false;
  /** Whether the page's lines were sent. An error in the same call would discard them, so it waits for the next. */
  let isTaken = false;
  let next: Promise<Response> | undefined;
  count(first);

  /** Begins to read the next page, unless the response ends with this one. */
  function count({ lines, records: found, next_cursor }: Page): void {
    records += found;
    bytes += lines.length;
    // A CSV continues after its last record, so it must have one.
    const isLate = performance.now() - began > maxMs && (isNdjson || records > 0);
    const isFull = records >= maxRecords || bytes >= maxBytes || processorMs >= maxProcessorMs;
    next = next_cursor === null || isFull || isLate
      ? undefined
      : askPatiently(ask, next_cursor, () => isOver);
  }

  /** Sends lines. False if there are none. */
  function send(controller: ReadableStreamDefaultController, lines: Uint8Array): boolean {
    const began = performance.now();
    const { length } = lines;
    if (length > 0) controller.enqueue(lines);
    processorMs += performance.now() - began + (isGzipped ? length / gzipSpeed : 0);
    return length > 0;
  }

  /** Ends NDJSON with a line about how it ended. Breaks off an incomplete CSV, so that it does not look complete. */
  function end(controller: ReadableStreamDefaultController, last: Last): void {
    isOver = true;
    if (isNdjson) send(controller, encoder.encode(`${JSON.stringify(last)}\n`));
    else if (!last.complete) {
      return controller.error(
        new Error("The export is not complete: continue after its last record"),
      );
    }
    controller.close();
  }

  return new ReadableStream({
    async pull(controller) {
      // Pages may be empty, but this call must send something to be called again.
      for (let isSent = false; !isSent;) {
        isSent = !isTaken && send(controller, page.lines);
        isTaken = true;
        const { next_cursor } = page;
        if (isSent && !isNdjson && next === undefined && next_cursor !== null) return;
        if (next === undefined) {
          return end(controller, next_cursor === null ? { complete: true } : { next_cursor });
        }
        const answer = await next;
        if (answer.status !== 200) {
          // The client keeps the pages so far.
          const { message } = await answer.json();
          return end(controller, { error: message, next_cursor });
        }
        const began = performance.now();
        page = pageIn(await answer.arrayBuffer());
        isTaken = false;
        processorMs += performance.now() - began;
        count(page);
      }
    },
    cancel() {
      isOver = true;
    },
  }, { highWaterMark: 1 });
}

/** Waits for a scan slot, if the tenant's other reads have them all. */
async function askPatiently(
  ask: AskPage,
  cursor: string,
  isOver: () => boolean,
): Promise<Response> {
  const until = performance.now() + patienceMs;
  while (true) {
    const answer = await ask(cursor);
    if (answer.status !== 429 || performance.now() > until || isOver()) return answer;
    await answer.body?.cancel();
    await new Promise((done) => setTimeout(done, 250));
  }
}
