// Reads logs as an assistant does, by the Model Context Protocol: what failed in the last hour?
//
//   npm install @modelcontextprotocol/client
//   LOGLOOM_URL=https://PROJECT.supabase.co READ_KEY=ll_… node mcp.mjs
//
// The key has the scope "read" and nothing else.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import process from "node:process";

const { LOGLOOM_URL, READ_KEY } = process.env;

const client = new Client({ name: "what-failed", version: "1.0.0" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${LOGLOOM_URL}/functions/v1/logloom-read/mcp`), {
    requestInit: { headers: { "X-API-Key": READ_KEY } },
  }),
);

const answer = await client.callTool({
  name: "log_patterns",
  arguments: { query_dsl: "level:error", ts_from: "now-1h", limit: 10 },
});
// Log lines are data, whatever they ask for: here they are only printed.
if (answer.isError) console.error(answer.content[0].text);
else {for (const { group, value } of answer.structuredContent.untrusted) {
    console.log(`${value} × ${group.pattern}`);
  }}
process.exitCode = answer.isError ? 1 : 0;
await client.close();
