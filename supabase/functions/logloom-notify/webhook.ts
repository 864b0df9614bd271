import { Webhook } from "standardwebhooks";
import { isPublicAddress } from "./addresses.ts";
import { failed, type Outcome, retry } from "./outcome.ts";

export interface WebhookMessage {
  /** The same in every attempt, so that a receiver recognises a repeat. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
  readonly secrets: readonly string[];
}

export interface WebhookOptions {
  /** Allows `http://127.0.0.1`, for a receiver in development. */
  readonly allowLocal: boolean;
  readonly timeoutMs: number;
  readonly now: () => Date;
  /** Every address of a host name. */
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
  /** Opens a connection to an address, with TLS for `hostname` if given. */
  readonly connect: (
    address: string,
    port: number,
    hostname?: string,
  ) => Promise<Deno.Conn>;
}

/** The part of an answer that is read: only status and headers matter. */
const answerLimit = 16_384;

/**
 * One attempt. We speak HTTP ourselves, because the checked address must be the one that is connected to. `fetch` does
 * not promise this: it resolves the name again.
 */
export async function deliverWebhook(
  message: WebhookMessage,
  options: WebhookOptions,
): Promise<Outcome> {
  if (message.secrets.length === 0) return failed("The alert rule was deleted");
  const url = readUrl(message.url, options.allowLocal);
  if (url === undefined) return failed("The webhook's URL is not allowed");

  let conn: Deno.Conn | undefined;
  let isOver = false;
  const attempt = async (): Promise<Outcome> => {
    const address = await findAddress(url, options);
    if (typeof address !== "string") return address;
    const hostname = url.protocol === "https:" ? bareHost(url) : undefined;
    const opened = await options.connect(address, portOf(url), hostname);
    // The time was up meanwhile.
    if (isOver) opened.close();
    else conn = opened;
    await writeAll(opened, request(url, message, options.now()));
    return judge(await readAnswer(opened));
  };

  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<Outcome>((resolve) => {
    const error = `No answer within ${options.timeoutMs / 1000} s`;
    timer = setTimeout(() => resolve(retry(error)), options.timeoutMs);
  });
  try {
    return await Promise.race([attempt().catch(describe), timeout]);
  } finally {
    isOver = true;
    clearTimeout(timer);
    conn?.close();
  }
}

/** The URL if its form is allowed; its target is checked later. */
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

/** The address to connect to, or the reason for none. A name is private if any of its addresses is. */
async function findAddress(
  url: URL,
  options: WebhookOptions,
): Promise<string | Outcome> {
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
  if (addresses.length === 0) {
    return retry("The webhook's host name cannot be resolved");
  }
  if (!addresses.every(isPublicAddress)) {
    return failed("The webhook's host is not on the public Internet");
  }
  return addresses[0];
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function portOf(url: URL): number {
  return Number(url.port || (url.protocol === "https:" ? 443 : 80));
}

function request(
  url: URL,
  { id, body, secrets }: WebhookMessage,
  now: Date,
): Uint8Array {
  const encoder = new TextEncoder();
  const bytes = encoder.encode(body);
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, now, body));
  const head = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    "User-Agent: Logloom",
    "Content-Type: application/json",
    `Content-Length: ${bytes.length}`,
    `webhook-id: ${id}`,
    `webhook-timestamp: ${Math.floor(now.getTime() / 1000)}`,
    `webhook-signature: ${signatures.join(" ")}`,
    "Connection: close",
  ].join("\r\n");
  return new Uint8Array([...encoder.encode(`${head}\r\n\r\n`), ...bytes]);
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += await conn.write(bytes.subarray(at));
  }
}

interface Answer {
  readonly status: number;
  readonly retryAfter: number | undefined;
}

/** Reads to the end of the header, past interim answers; undefined if it is not HTTP. */
async function readAnswer(conn: Deno.Conn): Promise<Answer | undefined> {
  const buffer = new Uint8Array(answerLimit);
  let filled = 0;
  while (filled < buffer.length) {
    const read = await conn.read(buffer.subarray(filled));
    if (read === null) return undefined;
    filled += read;
    const text = new TextDecoder("latin1").decode(buffer.subarray(0, filled));
    const heads = text.split("\r\n\r\n").slice(0, -1);
    for (const head of heads) {
      const status = Number(
        /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(head)?.[1] ?? Number.NaN,
      );
      if (Number.isNaN(status)) return undefined;
      if (status < 200) continue;
      const retryAfter = /^retry-after:[ \t]*(\d{1,9})[ \t]*$/im.exec(head)
        ?.[1];
      return {
        status,
        retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
      };
    }
  }
  return undefined;
}

function judge(answer: Answer | undefined): Outcome {
  if (answer === undefined) {
    return retry("The webhook's receiver did not answer in HTTP");
  }
  const { status, retryAfter } = answer;
  if (status < 300) return { outcome: "delivered", status };
  if (status < 400) {
    return retry(`HTTP ${status}: redirects are not followed`, status);
  }
  if (status === 410) return failed("HTTP 410: the receiver is gone", status);
  return retry(`HTTP ${status}`, status, retryAfter);
}

/** In our own words: an error's message may quote addresses. */
function describe(error: unknown): Outcome {
  if (error instanceof Deno.errors.ConnectionRefused) {
    return retry("The connection was refused");
  }
  if (error instanceof Deno.errors.InvalidData) {
    return retry(
      "No TLS connection: the certificate is not valid for this host, say",
    );
  }
  return retry("The connection failed");
}
