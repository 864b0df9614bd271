import { type ComponentType, lazy } from "react";
import type { OperationName } from "../service/logloom.ts";
import { loadPart } from "../shared/load-part.ts";

/** What the portal's page can show: the `part` of the element. */
export type Part = "search" | keyof typeof laterParts;

interface Later {
  /** All operations that the screen may call. It shows nothing without the first. */
  operations: readonly [OperationName, ...OperationName[]];
  Screen: ComponentType;
}

const later = (
  load: () => Promise<{ default: ComponentType }>,
  ...operations: Later["operations"]
): Later => ({ operations, Screen: lazy(() => loadPart(load)) });

/** Screens of the console that are loaded when the element names them. */
export const laterParts = {
  audit: later(() => import("./audit-part.tsx"), "list_audit_events"),
  dashboards: later(
    () => import("../dashboards/dashboards-screen.tsx"),
    "list_log_dashboards",
    "get_log_dashboard",
    "list_log_fields",
    "log_series",
    "log_stats",
  ),
  errors: later(
    () => import("../errors/errors-screen.tsx"),
    "list_error_groups",
    "get_error_group",
  ),
  usage: later(() => import("../usage/usage-screen.tsx"), "get_tenant_usage"),
};

/** The part that an address names, or null if there is no such part. */
export function partOf(search: string): Part | null {
  const part = new URLSearchParams(search).get("part") ?? "search";
  return part === "search" || Object.hasOwn(laterParts, part) ? part as Part : null;
}
