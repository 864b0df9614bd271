// deno.lock is not deployed: a package's dependency gets the version in deno.json only if it is imported first.
import "zod";
import "@modelcontextprotocol/core";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { corsHeaders, jsonText } from "../../_shared/http.ts";
import { bodyText } from "../read_body.ts";
import type { Reader } from "../reader.ts";
import type { ReadDatabase } from "../database.ts";
import { refusalOfReader } from "../unknown_reader.ts";
import { isObject } from "../mcp/tool_answer.ts";
import { serverFor } from "../mcp/server.ts";
import type { Asked, Protocol } from "../protocol.ts";

/** The most messages of a batch, because each may be a search. */
const maxMessages = 10;
const tooManyMessages = {
  code: -32600,
  message: `Invalid Request: a batch has at most ${maxMessages} messages`,
};

const metadataPath = "/.well-known/oauth-protected-resource";

/**
 * `POST /mcp`: the Model Context Protocol, without sessions. Any origin may call: credentials are in headers that no
 * browser adds by itself, so DNS rebinding gains nothing.
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
    // Clients start to sign in if the first request is refused, but not if a tool call is.
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
    // Nothing changes here, so there is nothing to subscribe to.
    { maxSubscriptions: 0 },
  );
  const { url, method, headers, signal } = request;
  const answer = await fetch(new Request(url, { method, headers, body: text, signal }));
  // Reads the whole answer first: only then is it known whether the credential was refused, which must give a 401.
  const body = await answer.text();
  return refused ?? new Response(body === "" ? null : body, {
    status: answer.status,
    headers: { ...Object.fromEntries(answer.headers), ...corsHeaders },
  });
}

/** The parsed body; undefined if it is not JSON, which the MCP server refuses itself. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a message calls the database, which then checks the sender. */
function asksDatabase(message: unknown): boolean {
  if (!isObject(message)) return false;
  const { method } = message;
  return method === "tools/call" || String(method).startsWith("notifications/");
}

/**
 * The public address of this endpoint. The gateway removes `/functions/v1`, so it is added again. Without publicUrl,
 * the request's URL is used. Headers are ignored: users sign in at this address, so no client may choose it.
 */
function addressOf({ url }: Request, publicUrl: string | undefined): URL {
  const { pathname, origin } = new URL(url);
  const name = /^(?:\/functions\/v1)?\/([\w-]+)/.exec(pathname)?.[1] ?? "logloom-read";
  return new URL(`${publicUrl ?? origin}/functions/v1/${name}/mcp`);
}
