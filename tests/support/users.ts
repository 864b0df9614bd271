import assert from "node:assert/strict";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import type { Database as Schema } from "../../types/database.ts";
import type { Tenant } from "./client.ts";
import { stack } from "./stack.ts";
import { userToken } from "./tokens.ts";

/** A signed-in user with the typed client that an application would make. */
export interface User {
  id: string;
  tenantId: string;
  token: string;
  client: SupabaseClient<Schema>;
}

/** A user of a tenant that nobody else uses, unless one is named. */
export async function newUser(tenantId = `tenant-${crypto.randomUUID()}`): Promise<User> {
  const id = crypto.randomUUID();
  return asUser({
    id: tenantId,
    userId: id,
    token: await userToken({ tenant_id: tenantId, sub: id }),
  });
}

export function asUser({ id, userId, token }: Pick<Tenant, "id" | "userId" | "token">): User {
  const client = createClient<Schema>(stack.url, stack.anonKey, {
    accessToken: () => Promise.resolve(token),
  });
  return { id: userId, tenantId: id, token, client };
}

interface Response<Data> {
  data: Data;
  error: { code: string; message: string } | null;
  status: number;
}

/** What an operation answers to a request that it serves. */
export async function served<Data>(
  request: PromiseLike<Response<Data>>,
): Promise<NonNullable<Data>> {
  const { data, error, status } = await request;
  assert.deepEqual({ error, status }, { error: null, status: 200 });
  assert.ok(data !== null && data !== undefined);
  return data;
}

/** The operation refuses: with this status, our code for it, and this message. */
export async function refused(
  request: PromiseLike<Response<unknown>>,
  status: number,
  message: string,
): Promise<void> {
  const answer = await request;
  assert.deepEqual(
    { status: answer.status, code: answer.error?.code, message: answer.error?.message },
    { status, code: `PT${status}`, message },
  );
}
