import { useMutation, useQueryClient } from "@tanstack/react-query";
import { forget, useService } from "../service/hooks.ts";
import { type LogDashboard, LogloomError, type LogPanel } from "../service/logloom.ts";
import type { Edited } from "./panels.ts";

/** How often a change is made again where others are always first. */
const mostTries = 5;

export interface PanelsChange {
  /** As it was read. */
  dashboard: LogDashboard;
  change: (panels: LogPanel[]) => LogPanel[];
  /** Where it comes from a dialog. */
  edited?: Edited;
}

/** Changes the panels of a dashboard; what another tab has changed since it was read stays so. */
export function usePanelsChange() {
  const service = useService();
  const queries = useQueryClient();
  return useMutation<LogDashboard, LogloomError, PanelsChange>({
    mutationFn: async ({ dashboard, change }) => {
      const p_dashboard_id = dashboard.dashboard_id;
      let now = dashboard;
      for (let tries = 1;; tries++) {
        try {
          return await service.call("update_log_dashboard", {
            p_dashboard_id,
            p_panels: change(now.panels).map((one) => ({ ...one })),
            p_updated_at: now.updated_at,
          });
        } catch (error) {
          const isChanged = error instanceof LogloomError && error.status === 409;
          if (!isChanged || tries === mostTries) throw error;
          now = await service.call("get_log_dashboard", { p_dashboard_id });
        }
      }
    },
    onSuccess: () => forget(queries, ["get_log_dashboard", "list_log_dashboards"]),
  });
}
