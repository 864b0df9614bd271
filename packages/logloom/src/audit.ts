import { createService, type Session, type SupabaseClientLike } from "./read/service.ts";
import type { Json } from "./read/types.ts";

type Fields = { readonly [name: string]: Json };

export interface AuditEntry {
  readonly action: string;
  readonly targets?: readonly (Fields & { readonly id: string | number })[];
  readonly context?: Fields;
  /** Only with the project's secret key. A user's token names both. */
  readonly tenant?: string;
  readonly actor?: string;
}

/** Records an event in the audit trail and returns its id. Throws a LogloomError if it may not be stored. */
export async function audit(
  source: SupabaseClientLike | Session,
  { action, targets, context, tenant, actor }: AuditEntry,
): Promise<string> {
  const given = { p_action: action, p_targets: targets, p_context: context };
  const parameters = { ...given, p_tenant_id: tenant, p_actor: actor };
  return await createService(source, {}).call("record_audit_event", parameters) as string;
}
