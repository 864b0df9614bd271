import { useOperation } from "./hooks.ts";
import type { Role } from "./logloom.ts";

/** From the least to the most rights. */
export const roles: readonly Role[] = ["member", "admin", "owner"];

/** The longest list that a list returns. */
const most = 1000;

export function useMembers() {
  return useOperation("list_tenant_members", { p_limit: most });
}

/** The caller's tenants, with their roles there. */
export function useTenants() {
  return useOperation("list_log_tenants", { p_limit: most });
}

/**
 * Whether the caller has a role, null before it is known; other actions are not offered. The service decides in the
 * end. A viewer has none of them.
 */
export function useMay(least: Role): boolean | null {
  const tenants = useTenants();
  // A database without members answers PostgREST's own 404: there everybody may do everything.
  if (tenants.error?.status === 404) return true;
  if (!tenants.data) return null;
  const mine = tenants.data.find(({ is_current }) => is_current)?.role;
  // In a very long list it may not be found.
  return mine === undefined || roles.indexOf(mine) >= roles.indexOf(least);
}
