import { createMcpHandler } from "@modelcontextprotocol/server";
import { corsHeaders, jsonText } from "../../_shared/http.ts";
import { serverFor } from "../mcp/server.ts";
import type { Asked, Protocol } from "../protocol.ts";

const metadataPath = "/.well-known/oauth-protected-resource";
const maxBodyBytes = 64 * 1024;

/**
 * `POST /mcp`: the Model Context Protocol, without sessions. Any origin may call, because credentials
 * are in headers that no browser adds by itself: a page that rebinds a name has no rights by that.
 */
export const mcp: Protocol = {
  methods: "GET, POST, DELETE, OPTIONS",
  async answer({ request, path, reader, callDatabase }: Asked): Promise<Response> {
    const resource = addressOf(request);
    if (path.endsWith(metadataPath)) {
      return jsonText(
        200,
        JSON.stringify({
          resource: resource.href,
          authorization_servers: [`${resource.origin}/auth/v1`],
          bearer_methods_supported: ["header"],
        }),
      );
    }
    if (reader instanceof Response) {
      const said = reader.headers.get("WWW-Authenticate") ?? "Bearer";
      reader.headers.set(
        "WWW-Authenticate",
        `${said}, resource_metadata="${resource.href}${metadataPath}"`,
      );
      return reader;
    }
    const { fetch } = createMcpHandler(() => serverFor(reader, callDatabase), {
      maxRequestBodySize: maxBodyBytes,
    });
    const { body, status, headers } = await fetch(request);
    return new Response(body, {
      status,
      headers: { ...Object.fromEntries(headers), ...corsHeaders },
    });
  },
};

/** Where clients see us: the gateway says its own address, and takes `/functions/v1` away. */
function addressOf({ url, headers }: Request): URL {
  const seen = new URL(url);
  const name = /^(?:\/functions\/v1)?\/([\w-]+)/.exec(seen.pathname)?.[1] ?? "logloom-read";
  const host = headers.get("X-Forwarded-Host") ?? seen.host;
  const scheme = headers.get("X-Forwarded-Proto") ?? seen.protocol.slice(0, -1);
  const origin = `${scheme}://${host}`;
  return new URL(
    `/functions/v1/${name}/mcp`,
    /^https?:\/\/[\w.:[\]-]+$/.test(origin) && URL.canParse(origin) ? origin : seen.origin,
  );
}
