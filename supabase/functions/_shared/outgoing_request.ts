import { isPublicAddress } from "./public_address.ts";

/** A request to an address that a tenant chose. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface OutgoingOptions {
  /** Whether `http://127.0.0.1` is allowed, for receivers in development. */
  readonly allowLocal: boolean;
  readonly timeoutMs: number;
  /** How many bytes of an answer's body are read; 0 reads nothing. */
  readonly maxAnswerBytes?: number;
  /** Every address of a host name. */
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
  /** Opens a connection to an address, with TLS for `hostname` if given. */
  readonly connect: (address: string, port: number, hostname?: string) => Promise<Deno.Conn>;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** Why there is no answer, in our own words: an error's message may quote addresses. */
export interface NoAnswer {
  readonly error: string;
  /** True if a retry would fail in the same way. */
  readonly isFinal: boolean;
}

export type Outgoing = (request: OutgoingRequest) => Promise<OutgoingAnswer | NoAnswer>;

/** The most bytes that an answer's header may have. */
const headLimit = 16_384;

/** Headers of the connection, which only we may set. */
const ownHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Whether a header that a tenant chose may be sent. */
export function isSendable(name: string, value: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name) && !ownHeaders.has(name.toLowerCase()) &&
    value.length <= 8192 && /^[\x20-\x7e]*$/.test(value);
}

/**
 * Makes one attempt, only by https, only to a public address, and follows no redirect. Has its own HTTP client, because
 * it must connect to the address that was checked, while `fetch` resolves the name again.
 */
export async function sendOutgoing(
  request: OutgoingRequest,
  options: OutgoingOptions,
): Promise<OutgoingAnswer | NoAnswer> {
  const url = readUrl(request.url, options.allowLocal);
  if (url === undefined) return never("The URL is not allowed");
  if (!Object.entries(request.headers).every(([name, value]) => isSendable(name, value))) {
    return never("A header is not allowed");
  }

  let conn: Deno.Conn | undefined;
  let isOver = false;
  const attempt = async (): Promise<OutgoingAnswer | NoAnswer> => {
    const address = await findAddress(url, options);
    if (typeof address !== "string") return address;
    const hostname = url.protocol === "https:" ? bareHost(url) : undefined;
    const opened = await options.connect(address, portOf(url), hostname);
    // The request has already timed out, so nobody uses this connection.
    if (isOver) opened.close();
    else conn = opened;
    await writeAll(opened, headOf(url, request));
    if (request.body !== undefined) await writeAll(opened, request.body);
    return await readAnswer(opened, request.method === "HEAD" ? 0 : options.maxAnswerBytes ?? 0) ??
      again("The receiver did not answer in HTTP");
  };

  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<NoAnswer>((resolve) => {
    const error = `No answer within ${options.timeoutMs / 1000} s`;
    timer = setTimeout(() => resolve(again(error)), options.timeoutMs);
  });
  try {
    return await Promise.race([attempt().catch(describe), timeout]);
  } finally {
    isOver = true;
    clearTimeout(timer);
    conn?.close();
  }
}

function never(error: string): NoAnswer {
  return { error, isFinal: true };
}

function again(error: string): NoAnswer {
  return { error, isFinal: false };
}

/** Returns the URL if its form is allowed. Its target is checked later. */
function readUrl(text: string, allowLocal: boolean): URL | undefined {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") {
    return undefined;
  }
  if (url.protocol === "https:") return url;
  return allowLocal && isLocal(url) ? url : undefined;
}

function isLocal(url: URL): boolean {
  return url.protocol === "http:" && url.hostname === "127.0.0.1";
}

/** Finds the address to connect to, or the reason why there is none. A name is private if any of its addresses is. */
async function findAddress(url: URL, options: OutgoingOptions): Promise<string | NoAnswer> {
  const host = bareHost(url);
  if (options.allowLocal && isLocal(url)) return host;
  const isAddress = /^[\d.]+$|:/.test(host);
  let addresses: readonly string[] = [host];
  if (!isAddress) {
    try {
      addresses = await options.resolve(host);
    } catch {
      addresses = [];
    }
  }
  if (addresses.length === 0) return again("The host name cannot be resolved");
  if (!addresses.every(isPublicAddress)) return never("The host is not on the public Internet");
  return addresses[0];
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function portOf(url: URL): number {
  return Number(url.port || (url.protocol === "https:" ? 443 : 80));
}

function headOf(url: URL, { method, headers, body }: OutgoingRequest): Uint8Array {
  const head = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...body !== undefined ? [`Content-Length: ${body.length}`] : [],
    "Connection: close",
  ].join("\r\n");
  return new TextEncoder().encode(`${head}\r\n\r\n`);
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += await conn.write(bytes.subarray(at));
  }
}

/** The final answer, without interim ones (1xx); undefined if it is not HTTP. */
async function readAnswer(conn: Deno.Conn, maxBytes: number): Promise<OutgoingAnswer | undefined> {
  const buffer = new Uint8Array(headLimit);
  let filled = 0;
  while (filled < buffer.length) {
    const read = await conn.read(buffer.subarray(filled));
    if (read === null) return undefined;
    filled += read;
    const text = new TextDecoder("latin1").decode(buffer.subarray(0, filled));
    let at = 0;
    for (const head of text.split("\r\n\r\n").slice(0, -1)) {
      at += head.length + 4;
      const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(head)?.[1] ?? Number.NaN);
      if (Number.isNaN(status)) return undefined;
      if (status < 200) continue;
      const headers = readHeaders(head);
      const body = status === 204 || status === 304 || maxBytes === 0
        ? new Uint8Array()
        : await readBody(conn, buffer.slice(at, filled), headers, maxBytes);
      return { status, headers, body };
    }
  }
  return undefined;
}

/** Headers by their names in lower case. The first one counts if a name comes twice. */
function readHeaders(head: string): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of head.split("\r\n").slice(1)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (name === "" || /\s/.test(name) || headers.has(name)) continue;
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}

/** Reads the first bytes of a body. Some of them may have come with the header. */
async function readBody(
  conn: Deno.Conn,
  first: Uint8Array,
  headers: ReadonlyMap<string, string>,
  maxBytes: number,
): Promise<Uint8Array> {
  const isChunked = /\bchunked$/i.test(headers.get("transfer-encoding") ?? "");
  const length = /^\d{1,15}$/.exec(headers.get("content-length") ?? "")?.[0];
  // A chunked body also holds the sizes of its chunks.
  const wanted = isChunked
    ? maxBytes * 2 + headLimit
    : Math.min(maxBytes, length === undefined ? maxBytes : Number(length));
  const pieces = [first.subarray(0, wanted)];
  let count = pieces[0].length;
  const piece = new Uint8Array(65_536);
  while (count < wanted && !(isChunked && endsChunked(pieces))) {
    const read = await conn.read(piece);
    if (read === null) break;
    pieces.push(piece.slice(0, Math.min(read, wanted - count)));
    count += pieces[pieces.length - 1].length;
  }
  const whole = joined(pieces);
  return isChunked ? unchunked(whole).subarray(0, maxBytes) : whole;
}

function endsChunked(pieces: readonly Uint8Array[]): boolean {
  return new TextDecoder("latin1").decode(joined(pieces.slice(-2)).slice(-7)).endsWith("0\r\n\r\n");
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The content of a chunked body, whose last chunk may be incomplete. */
function unchunked(bytes: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const line = new TextDecoder("latin1").decode(bytes.subarray(at, at + 64));
    const size = /^([0-9a-f]{1,8})[^\r\n]*\r\n/i.exec(line);
    if (size === null) break;
    at += size[0].length;
    const length = Number.parseInt(size[1], 16);
    if (length === 0) break;
    pieces.push(bytes.subarray(at, at + length));
    at += length + 2;
  }
  return joined(pieces);
}

/** The seconds that a receiver asks to wait, from Retry-After: a number, or a date. */
export function retryAfterOf({ headers }: OutgoingAnswer, now: Date): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  const seconds = /^\d+(?:\.\d+)?$/.test(text)
    ? Number(text)
    // HTTP has three forms of a date, all in GMT. The oldest one does not name GMT.
    : /^[A-Z][a-z]{2,8},? /.test(text)
    ? (Date.parse(/ GMT$/.test(text) ? text : `${text} GMT`) - now.getTime()) / 1000
    : Number.NaN;
  if (Number.isNaN(seconds)) return undefined;
  // The database stores the seconds in 32 bits.
  return Math.min(Math.max(Math.ceil(seconds), 0), 2_147_483_647);
}

function describe(error: unknown): NoAnswer {
  if (error instanceof Deno.errors.ConnectionRefused) return again("The connection was refused");
  if (error instanceof Deno.errors.InvalidData) {
    return again("The TLS connection failed: is the certificate valid for this host?");
  }
  return again("The connection failed");
}
