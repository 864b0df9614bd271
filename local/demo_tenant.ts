import { createReader } from "../packages/logloom/src/read.ts";
import { exists, replaceFile } from "./files.ts";
import { userToken } from "./signing_keys.ts";
import type { Stack } from "./stack.ts";

export const demoTenant = "demo";
const demoUsers = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

/** A key for sending and two signed-in users, to try the stack. */
export interface Demo {
  apiKey: string;
  userTokens: string[];
}

export async function demo(stack: Stack): Promise<Demo> {
  const userTokens = demoUsers.map((user) => userToken(user, demoTenant));
  return { apiKey: await demoKey(stack, userTokens[0]), userTokens };
}

/**
 * Returns the key of an earlier start if it still works, otherwise a new key, because the database has only digests.
 */
async function demoKey(stack: Stack, token: string): Promise<string> {
  const service = createReader({ url: stack.url, token });
  const path = `${stack.folder}/demo-api-key`;
  if (await exists(path)) {
    const key = (await Deno.readTextFile(path)).trim();
    for await (const { status, key_prefix } of service.list("list_api_keys")) {
      if (status === "active" && key.startsWith(key_prefix)) return key;
    }
  }
  const { key_value } = await service.call("create_api_key", { p_name: "demo" });
  await replaceFile(path, `${key_value}\n`);
  return key_value;
}
