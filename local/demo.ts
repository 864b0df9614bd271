import { exists, replaceFile } from "./files.ts";
import { Failure } from "./failure.ts";
import { userToken } from "./keys.ts";
import type { Stack } from "./stack.ts";

export const demoTenant = "demo";
const demoUsers = [
  "11111111-1111-4111-8111-111111111111",
  "22222222-2222-4222-8222-222222222222",
];

/** A key for sending and two signed-in users, to try the stack. */
export interface Demo {
  apiKey: string;
  userTokens: string[];
}

export async function demo(stack: Stack): Promise<Demo> {
  const userTokens = demoUsers.map((user) => userToken(user, demoTenant));
  return { apiKey: await demoKey(stack, userTokens[0]), userTokens };
}

/** The key of an earlier start while it works, else a new one: the database only knows digests. */
async function demoKey(stack: Stack, token: string): Promise<string> {
  const path = `${stack.folder}/demo-api-key`;
  if (await exists(path)) {
    const key = (await Deno.readTextFile(path)).trim();
    const keys = await call(stack, token, "list_api_keys", { p_limit: 1000 }) as ApiKey[];
    if (keys.some((one) => one.status === "active" && key.startsWith(one.key_prefix))) return key;
  }
  const created = await call(stack, token, "create_api_key", { p_name: "demo" }) as ApiKey;
  await replaceFile(path, `${created.key_value}\n`);
  return created.key_value ?? "";
}

interface ApiKey {
  key_prefix: string;
  status: string;
  key_value?: string;
}

async function call(
  stack: Stack,
  token: string,
  operation: string,
  parameters: Record<string, unknown>,
): Promise<unknown> {
  const response = await fetch(`${stack.url}/rest/v1/rpc/${operation}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(parameters),
  });
  const answer = await response.text();
  if (!response.ok) {
    throw new Failure(`${operation} for the demo tenant answered ${response.status}: ${answer}`);
  }
  return JSON.parse(answer);
}
