import { useOperation } from "./hooks.ts";
import { useSession } from "./session.ts";

/** From the least to the most that one may do. */
export const roles = ["member", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

export interface Member {
  user_id: string;
  role: string;
  email?: string | null;
  created_at?: string | null;
}

/** So many members a list answers at most. */
const most = 1000;

export function useMembers() {
  return useOperation<Member[]>("list_tenant_members", { p_limit: most });
}

/**
 * Whether the caller may do what takes a role, null before it is known: nothing else is offered. The service decides
 * when it is done.
 */
export function useMay(least: Role): boolean | null {
  const me = useSession().claims()?.user;
  const members = useMembers();
  // A database that knows no members is PostgREST's own 404: there everybody may do everything.
  if (members.error?.status === 404) return true;
  if (!members.data) return null;
  const mine = members.data.find(({ user_id }) => user_id === me)?.role;
  // Without any member the tenant does not use roles; among too many one is not found.
  if (mine === undefined) {
    return members.data.length === 0 || members.data.length === most;
  }
  return roles.indexOf(mine as Role) >= roles.indexOf(least);
}
