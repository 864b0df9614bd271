/** A request that Grafana sends by itself, and where its source says so. */
export interface GrafanaRequest {
  readonly source: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
}

// github.com/grafana/grafana, at the commit of each file that was read.
const healthcheck = "grafana pkg/tsdb/loki/healthcheck.go 20b1af5b2562";
const api = "grafana pkg/tsdb/loki/api.go 0065cb3c3147";
const datasource = "grafana public/app/plugins/datasource/loki/datasource.ts 92c2d1ee6f69";
const language = "grafana public/app/plugins/datasource/loki/LanguageProvider.ts 01c4a161ff8a";
// github.com/grafana/logs-drilldown 2.5.1, commit 4418b4d6f104.
const drilldown = "logs-drilldown 2.5.1 src/services";

const hour = { start: "1795264200000000000", end: "1795267800000000000" };
const iso = { start: "2026-11-21T12:30:00.000Z", end: "2026-11-21T13:30:00.000Z" };
const step = "10000ms";
const parsed = "| json | logfmt | drop __error__, __error_details__";

function queried(source: string, ...queries: string[]): GrafanaRequest[] {
  return queries.map((query) => ({
    source,
    path: "query_range",
    parameters: { query, direction: "backward", limit: "1000", step, ...hour },
  }));
}

function asked(
  source: string,
  path: string,
  parameters: Record<string, string> = {},
): GrafanaRequest {
  return { source, path, parameters };
}

export const grafanaRequests: readonly GrafanaRequest[] = [
  asked(healthcheck, "query", {
    query: "vector(1)+vector(1)",
    direction: "backward",
    time: "4000000000",
  }),
  // Explore: what was typed, and the volume above it; older and newer releases group differently.
  ...queried(api, '{service="api"}', '{service="api"} |= `refused`'),
  ...queried(
    datasource,
    'sum by (level) (count_over_time({service="api"}[10s]))',
    'sum by (level, detected_level) (count_over_time({service="api"}[10s]))',
    'sum by (level, detected_level) (count_over_time({service="api"} | drop __error__[10s]))',
    'sum by (level, detected_level) (count_over_time({service="api"} | json | drop __error__[10s]))',
  ),
  asked(datasource, "index/stats", { query: '{service="api"}', ...hour }),
  asked(language, "labels", hour),
  asked(language, "labels", { query: '{service="api"}', ...hour }),
  asked(language, "label/service/values", { query: '{level="error"}', ...hour }),
  asked(language, "series", { "match[]": '{service="api"}', ...hour }),
  asked(language, "detected_labels", hour),
  asked(language, "detected_fields", { query: '{service="api"}', limit: "1000", ...hour }),
  asked(language, "detected_field/status/values", {
    query: '{service="api"}',
    limit: "1000",
    ...hour,
  }),
  asked(language, "status/buildinfo"),
  // Logs Drilldown.
  asked(`${drilldown}/datasource.ts`, "drilldown-limits"),
  asked(`${drilldown}/datasource.ts`, "labels", iso),
  asked(`${drilldown}/datasource.ts`, "detected_labels", { query: "", ...iso }),
  asked(`${drilldown}/datasource.ts`, "index/volume", {
    query: "{service_name=~`.+`}",
    limit: "5000",
    ...iso,
  }),
  asked(`${drilldown}/datasource.ts`, "patterns", {
    query: '{service_name="api"}',
    step: "10s",
    ...iso,
  }),
  asked(`${drilldown}/datasource.ts`, "detected_fields", {
    query: `{service_name="api"}      ${parsed} `,
    ...iso,
  }),
  asked(`${drilldown}/TagValuesProviders.ts`, "detected_field/detected_level/values", {
    query: `{service_name="api"}      ${parsed}`,
    limit: "1000",
    ...iso,
  }),
  asked(`${drilldown}/shardQuerySplitting.ts`, "label/__stream_shard__/values", {
    query: '{service_name="api"}',
    ...hour,
  }),
  ...queried(
    `${drilldown}/variables.ts LOG_STREAM_SELECTOR_EXPR`,
    `{service_name="api"}      ${parsed}  `,
    `{service_name="api"}  | detected_level="error"    ${parsed}  `,
  ),
  ...queried(
    `${drilldown}/expressions.ts`,
    'sum(count_over_time({service_name="api"}       [10s])) by (detected_level)',
    'sum(count_over_time({service_name="api"} | detected_level != ""      [10s])) by (detected_level)',
    `sum(count_over_time({service_name="api"}     ${parsed}   [10s])) by (detected_level)`,
    `sum(count_over_time({service_name="api"}      ${parsed}  [10s]))`,
  ),
  ...queried(
    `${drilldown}/labels.ts`,
    'sum(count_over_time({service_name="api" ,host != ""}        [10s])) by (host)',
    `sum(count_over_time({service_name="api"}  | detected_level != ""     ${parsed}    [10s])) by (detected_level)`,
  ),
  ...queried(
    `${drilldown}/fields.ts`,
    'sum by (status) (count_over_time({service_name="api"} | status!=""       [10s]))',
    'sum by (http_method) (count_over_time({service_name="api"} | http_method!=""       [10s]))',
    'avg_over_time({service_name="api"} | took!=""       | unwrap took | __error__="" [10s]) by ()',
  ),
  ...queried(
    "logs-drilldown 2.5.1 src/Components/ServiceSelectionScene/ServiceSelectionScene.tsx",
    'sum by (detected_level) (count_over_time({ service_name="api" } [10s]))',
    "{service_name=`api` }",
    `{service_name=\`api\` } ${parsed}`,
  ),
  asked(
    "logs-drilldown 2.5.1 src/Components/AttributeDistribution/LokiFieldDistribution.tsx",
    "query",
    {
      query:
        `sum by (status) (count_over_time({service_name="api"} ${parsed} | keep status [3600s]))`,
      direction: "backward",
      time: hour.end,
    },
  ),
];
