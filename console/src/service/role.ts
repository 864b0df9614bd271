import { useOperation } from "./hooks.ts";
import type { Role } from "./logloom.ts";
import { useSession } from "./session.ts";

/** From the least to the most rights. */
export const roles: readonly Role[] = ["member", "admin", "owner"];

/** The longest list that a list returns. */
const most = 1000;

export function useMembers() {
  return useOperation("list_tenant_members", { p_limit: most });
}

/**
 * Whether the caller has a role, null before it is known; other actions are not offered. The service decides in the
 * end.
 */
export function useMay(least: Role): boolean | null {
  const me = useSession().claims()?.user;
  const members = useMembers();
  // A database without members answers PostgREST's own 404: there everybody may do everything.
  if (members.error?.status === 404) return true;
  if (!members.data) return null;
  const mine = members.data.find(({ user_id }) => user_id === me)?.role;
  // A tenant without members does not use roles; in a very long list one may not be found.
  if (mine === undefined) {
    return members.data.length === 0 || members.data.length === most;
  }
  return roles.indexOf(mine) >= roles.indexOf(least);
}
