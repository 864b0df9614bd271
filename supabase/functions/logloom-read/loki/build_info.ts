import type { Request } from "./query_endpoints.ts";
import { parseLogql } from "./syntax_tree.ts";

/** Checks a query and returns it unchanged: Grafana's editor has formatted it. */
export function formatQuery({ parameters }: Request): unknown {
  const query = (parameters.get("query") ?? "").trim();
  parseLogql(query);
  return { status: "success", data: query };
}

export function drilldownLimits(): unknown {
  return {
    limits: {
      discover_log_levels: true,
      discover_service_name: ["service"],
      log_level_fields: ["level"],
      max_entries_limit_per_query: 5000,
      max_line_size_truncate: false,
      max_query_bytes_read: "0B",
      max_query_length: "0s",
      max_query_lookback: "0s",
      max_query_range: "0s",
      max_query_series: 1000,
      metric_aggregation_enabled: false,
      pattern_persistence_enabled: false,
      query_timeout: "15s",
      retention_period: "0s",
      volume_enabled: true,
      volume_max_series: 1000,
    },
    pattern_ingester_enabled: true,
    version: "unknown",
  };
}

/** Grafana offers the features of the Loki version that is named here. */
export function buildInfo(): unknown {
  return {
    version: "3.5.0",
    revision: "logloom",
    branch: "",
    buildUser: "",
    buildDate: "",
    goVersion: "",
  };
}
