// A deploy leaves deno.lock behind: what a package needs has the version of deno.json if it is imported before it.
import "zod";
import "@modelcontextprotocol/core";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { corsHeaders, jsonText } from "../../_shared/http.ts";
import { bodyText } from "../body.ts";
import type { Reader } from "../caller.ts";
import type { ReadDatabase } from "../database.ts";
import { refusalOfReader } from "../known.ts";
import { isObject } from "../mcp/answer.ts";
import { serverFor } from "../mcp/server.ts";
import type { Asked, Protocol } from "../protocol.ts";

/** Each may be a search. */
const maxMessages = 10;
const tooManyMessages = {
  code: -32600,
  message: `Invalid Request: a batch has at most ${maxMessages} messages`,
};

const metadataPath = "/.well-known/oauth-protected-resource";

/**
 * `POST /mcp`: the Model Context Protocol, without sessions. Any origin may call, because credentials
 * are in headers that no browser adds by itself: a page that rebinds a name has no rights by that.
 */
export const mcp: Protocol = {
  methods: "GET, POST, DELETE, OPTIONS",
  async answer({ request, path, reader, callDatabase, publicUrl }: Asked): Promise<Response> {
    const resource = addressOf(request, publicUrl);
    if (path.endsWith(metadataPath)) {
      return jsonText(
        200,
        JSON.stringify({
          resource: resource.href,
          authorization_servers: [
            resource.href.replace(/\/functions\/v1\/[\w-]+\/mcp$/, "/auth/v1"),
          ],
          bearer_methods_supported: ["header"],
        }),
      );
    }
    const answer = reader instanceof Response
      ? reader
      : await answered(request, reader, callDatabase);
    if (answer.status === 401) {
      const said = answer.headers.get("WWW-Authenticate") ?? "Bearer";
      answer.headers.set(
        "WWW-Authenticate",
        `${said}, resource_metadata="${resource.href}${metadataPath}"`,
      );
    }
    return answer;
  },
};

async function answered(
  request: Request,
  reader: Reader,
  callDatabase: ReadDatabase,
): Promise<Response> {
  const text = request.method === "POST" ? await bodyText(request) : undefined;
  if (text instanceof Response) return text;
  const message = text === undefined ? undefined : parsed(text);
  if (Array.isArray(message) && message.length > maxMessages) {
    return jsonText(400, JSON.stringify({ jsonrpc: "2.0", error: tooManyMessages, id: null }));
  }
  if (text !== undefined && !asksDatabase(message)) {
    // A client signs in where the first request is refused, and not where a tool is.
    const refusal = await refusalOfReader(reader, callDatabase);
    if (refusal !== undefined) return refusal;
  }
  let refused: Response | undefined;
  const { fetch } = createMcpHandler(
    () =>
      serverFor(reader, async (...call) => {
        const answer = await callDatabase(...call);
        if (answer.status === 401) refused = answer.clone();
        return answer;
      }),
    // Nothing here changes that a client could wait for.
    { maxSubscriptions: 0 },
  );
  const { url, method, headers, signal } = request;
  const answer = await fetch(new Request(url, { method, headers, body: text, signal }));
  // The answer is only known at its end: what a client may no longer read is a 401.
  const body = await answer.text();
  return refused ?? new Response(body === "" ? null : body, {
    status: answer.status,
    headers: { ...Object.fromEntries(answer.headers), ...corsHeaders },
  });
}

/** Undefined for what is no JSON, which the protocol's server refuses in its own words. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a message is refused by the database itself where its sender is not known. */
function asksDatabase(message: unknown): boolean {
  if (!isObject(message)) return false;
  const { method } = message;
  return method === "tools/call" || String(method).startsWith("notifications/");
}

/**
 * Where clients see us; the gateway takes `/functions/v1` away. Where the project does not know its own
 * address we say the one that the client called, and never one that a header names beside it: whoever
 * signs in would follow it.
 */
function addressOf({ url }: Request, publicUrl: string | undefined): URL {
  const { pathname, origin } = new URL(url);
  const name = /^(?:\/functions\/v1)?\/([\w-]+)/.exec(pathname)?.[1] ?? "logloom-read";
  return new URL(`${publicUrl ?? origin}/functions/v1/${name}/mcp`);
}
