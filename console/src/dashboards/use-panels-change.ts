import { useMutation, useQueryClient } from "@tanstack/react-query";
import { forget, useService } from "../service/operation-hooks.ts";
import { type LogDashboard, LogloomError, type LogPanel } from "../service/logloom.ts";
import type { Edited } from "./edit-panels.ts";

/** How often a change is tried when other tabs keep saving first. */
const mostTries = 5;

export interface PanelsChange {
  dashboard: LogDashboard;
  change: (panels: LogPanel[]) => LogPanel[];
  /** Set if the change comes from a dialog. */
  edited?: Edited;
}

/** Changes the panels of a dashboard, and keeps what other tabs changed in the meantime. */
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
