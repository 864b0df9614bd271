import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client";
// Deno needs the path of these types.
// @ts-types="./node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import assert from "node:assert/strict";
import { stack } from "../support/stack.ts";

export const address = new URL(`${stack.url}/functions/v1/logloom-read/mcp`);

/** The common interface of the clients under test. */
export interface Assistant {
  readonly protocol: string | undefined;
  tools(): Promise<{ name: string; readOnly?: boolean; output: boolean; description?: string }[]>;
  call(name: string, given?: Record<string, unknown>, signal?: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

export interface Answer {
  readonly text: string;
  readonly structure: Record<string, unknown>;
  readonly isError: boolean;
}

type Connect = (headers: Record<string, string>) => Promise<Assistant>;

const named = { name: "test", version: "1.0.0" };

/** Each client with each protocol version that it supports. */
export const clients: Readonly<Record<string, Connect>> = {
  "client 2.4, modern": (headers) => connected(headers, "auto"),
  "client 2.4, legacy": (headers) => connected(headers, "legacy"),
  "sdk 1.32": async (headers) => {
    const client = new OldClient(named);
    await client.connect(new OldTransport(address, { requestInit: { headers } }));
    return {
      protocol: undefined,
      tools: async () => (await client.listTools()).tools.map(toolOf),
      call: async (name, given = {}, signal) =>
        answerOf(await client.callTool({ name, arguments: given }, undefined, { signal })),
      close: () => client.close(),
    };
  },
};

async function connected(
  headers: Record<string, string>,
  mode: "auto" | "legacy",
): Promise<Assistant> {
  const client = new Client(named, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools.map(toolOf),
    call: async (name, given = {}, signal) =>
      answerOf(await client.callTool({ name, arguments: given }, { signal })),
    close: () => client.close(),
  };
}

interface ListedTool {
  name: string;
  description?: string;
  annotations?: { readOnlyHint?: boolean };
  outputSchema?: unknown;
}

function toolOf({ name, description, annotations, outputSchema }: ListedTool) {
  return {
    name,
    description,
    readOnly: annotations?.readOnlyHint,
    output: outputSchema !== undefined,
  };
}

function answerOf(answer: Record<string, unknown>): Answer {
  const content = answer.content;
  assert.ok(Array.isArray(content));
  assert.equal(content.length, 1);
  return {
    text: String(content[0].text),
    structure: Object.fromEntries(Object.entries(answer.structuredContent ?? {})),
    isError: answer.isError === true,
  };
}
