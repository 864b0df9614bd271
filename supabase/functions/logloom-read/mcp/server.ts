import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { describeError, logFailure } from "../../_shared/errors.ts";
import type { Reader } from "../caller.ts";
import type { ReadDatabase } from "../database.ts";
import { answerOf, refusal, type ToolAnswer } from "./answer.ts";
import { type Tool, tools } from "./tools.ts";

const output = fromJsonSchema<Record<string, unknown>>({
  type: "object",
  properties: {
    notice: { type: "string" },
    narrow: { type: "string" },
    untrusted: { description: "What the operation answered." },
  },
  required: ["notice", "untrusted"],
});

/** A server for one request, which reads as `reader` and does nothing else. */
export function serverFor(reader: Reader, callDatabase: ReadDatabase): McpServer {
  const server = new McpServer(
    { name: "logloom", version: "1.0.0" },
    // Nothing changes while a client is there.
    { capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of tools) {
    const { name, title, description, properties, required } = tool;
    server.registerTool(name, {
      title,
      description,
      inputSchema: fromJsonSchema<Record<string, unknown>>({
        type: "object",
        properties: Object.fromEntries(
          Object.entries(properties).map(([key, { enum: values, ...property }]) => [
            key,
            { ...property, ...values && { enum: [...values] } },
          ]),
        ),
        required: [...required],
        additionalProperties: false,
      }),
      outputSchema: output,
      annotations: { readOnlyHint: true, openWorldHint: false },
    }, (asked) => called(tool, asked, reader, callDatabase));
  }
  return server;
}

async function called(
  tool: Tool,
  asked: Record<string, unknown>,
  reader: Reader,
  callDatabase: ReadDatabase,
): Promise<ToolAnswer> {
  // The text of a thrown error would reach the client.
  try {
    const parameters: Record<string, unknown> = Object.fromEntries(
      Object.entries(asked).map(([key, value]) => [`p_${key}`, value]),
    );
    if (tool.stage !== undefined) {
      parameters.p_query_dsl = `${parameters.p_query_dsl ?? ""} ${tool.stage}`.trim();
    }
    return await answerOf(
      tool,
      await callDatabase(reader, tool.operation, JSON.stringify({ ...tool.fixed, ...parameters })),
    );
  } catch (error) {
    logFailure("tool failed", { call: tool.operation, reason: describeError(error) });
    return refusal("The call failed: try again later.");
  }
}
