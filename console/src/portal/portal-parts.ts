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
  alerts: later(
    () => import("../alerts/alerts-screen.tsx"),
    "list_alert_incidents",
    "get_alert_incident",
    "update_alert_incident",
    "acknowledge_alert",
    "list_alert_history",
    "list_alert_rules",
    "get_alert_rule",
    "create_alert_rule",
    "update_alert_rule",
    "delete_alert_rule",
    "preview_alert_rule",
    "test_alert_rule",
    "rotate_alert_webhook_secret",
    "list_alert_addresses",
    "confirm_alert_address",
  ),
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
  streams: later(
    () => import("./streams-part.tsx"),
    "list_log_streams",
    "create_log_stream",
    "update_log_stream",
    "delete_log_stream",
    "test_log_stream",
    "list_log_stream_failures",
  ),
  usage: later(() => import("../usage/usage-screen.tsx"), "get_tenant_usage"),
};

/** The part that an address names, or null if there is no such part. */
export function partOf(search: string): Part | null {
  const part = new URLSearchParams(search).get("part") ?? "search";
  return part === "search" || Object.hasOwn(laterParts, part) ? part as Part : null;
}
