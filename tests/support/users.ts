import assert from "node:assert/strict";
import { LogloomError, type Reader } from "../../packages/logloom/src/read.ts";
import { clientOf, type Tenant } from "./client.ts";
import { userToken } from "./tokens.ts";

/** A signed-in user with an application's client. */
export interface User {
  id: string;
  tenantId: string;
  token: string;
  client: Reader;
}

/** Makes a user of a new tenant, or of the named one. */
export async function newUser(tenantId = `tenant-${crypto.randomUUID()}`): Promise<User> {
  const id = crypto.randomUUID();
  return asUser({
    id: tenantId,
    userId: id,
    token: await userToken({ tenant_id: tenantId, sub: id }),
  });
}

export function asUser({ id, userId, token }: Pick<Tenant, "id" | "userId" | "token">): User {
  return { id: userId, tenantId: id, token, client: clientOf(token) };
}

/** Asserts that a call is refused with this status and message. */
export async function refused(
  call: Promise<unknown>,
  status: number,
  message: string,
): Promise<LogloomError> {
  const error = await call.then((answer) => ({ answer }), (error) => error);
  assert.ok(error instanceof LogloomError, JSON.stringify(error));
  assert.deepEqual(
    { status: error.status, code: error.code, message: error.message },
    { status, code: `PT${status}`, message },
  );
  return error;
}
