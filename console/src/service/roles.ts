import { useContext } from "react";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import type { Role } from "./logloom.ts";
import { useOperation } from "./operation-hooks.ts";
import { SessionContext } from "./session.ts";

/** From the least to the most rights. */
export const roles: readonly Role[] = ["member", "admin", "owner"];

/** The most items that a list operation returns. */
const most = 1000;

/** Whether the reader is a customer in the portal, where nobody is signed in. The service names no people to them. */
export function useIsCustomer(): boolean {
  return useContext(SessionContext) === null;
}

export function useMembers(enabled = true) {
  return useOperation("list_tenant_members", { p_limit: most }, { enabled });
}

/** Names people, given by address or id, by their address. Loads the members only if an id must be named. */
export function useNameOf(people: (string | null)[]): (person: string | null) => string {
  const session = useContext(SessionContext);
  const claims = session?.claims();
  const isKnown = (id: string) => id === claims?.user || id.includes("@");
  const members = useMembers(session !== null && people.some((id) => id !== null && !isKnown(id)));
  return (userId) => {
    if (userId === null) return say("nobody");
    if (session === null) return plain(userId);
    if (userId === claims?.user || userId === claims?.email) return say("you");
    if (isKnown(userId)) return plain(userId);
    const email = members.data?.find(({ user_id }) => user_id === userId)?.email;
    return plain(email ?? (userId.length === 36 ? `${userId.slice(0, 8)}…` : userId));
  };
}

/** The user's tenants, with the role in each. */
export function useTenants(enabled = true) {
  return useOperation("list_log_tenants", { p_limit: most }, { enabled });
}

/**
 * Whether the user has at least this role; null until it is known. It decides which controls the console shows, but the
 * service checks every call. A viewer has none of these roles.
 */
export function useMay(least: Role): boolean | null {
  const isCustomer = useIsCustomer();
  const tenants = useTenants(!isCustomer);
  if (isCustomer) return false;
  // PostgREST answers 404 on a database without members, where everybody may do everything.
  if (tenants.error?.status === 404) return true;
  if (!tenants.data) return null;
  const mine = tenants.data.find(({ is_current }) => is_current)?.role;
  // In a very long list the current tenant may be missing: let the service decide.
  return mine === undefined || roles.indexOf(mine) >= roles.indexOf(least);
}
