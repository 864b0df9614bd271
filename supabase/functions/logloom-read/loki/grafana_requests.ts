/** A request that Grafana sends by itself, and the file of Grafana's source that sends it. */
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
const panel = { direction: "backward", limit: "1000", step: "10000ms", ...hour };
const parsed = "| json | logfmt | drop __error__, __error_details__";

/** Source, path, query and further parameters. */
const requests: readonly (readonly [string, string, string?, Record<string, string>?])[] = [
  [healthcheck, "query", "vector(1)+vector(1)", { direction: "backward", time: "4000000000" }],
  [datasource, "index/stats", '{service="api"}', hour],
  [language, "labels", undefined, hour],
  [language, "labels", '{service="api"}', hour],
  [language, "label/service/values", '{level="error"}', hour],
  [language, "series", undefined, { "match[]": '{service="api"}', ...hour }],
  [language, "detected_labels", undefined, hour],
  [language, "detected_fields", '{service="api"}', { limit: "1000", ...hour }],
  [language, "detected_field/status/values", '{service="api"}', { limit: "1000", ...hour }],
  [language, "status/buildinfo"],
  // Logs Drilldown.
  [`${drilldown}/datasource.ts`, "drilldown-limits"],
  [`${drilldown}/datasource.ts`, "labels", undefined, iso],
  [`${drilldown}/datasource.ts`, "detected_labels", "", iso],
  [`${drilldown}/datasource.ts`, "index/volume", "{service_name=~`.+`}", { limit: "5000", ...iso }],
  [`${drilldown}/datasource.ts`, "patterns", '{service_name="api"}', { step: "10s", ...iso }],
  [`${drilldown}/datasource.ts`, "detected_fields", `{service_name="api"}      ${parsed} `, iso],
  [
    `${drilldown}/TagValuesProviders.ts`,
    "detected_field/detected_level/values",
    `{service_name="api"}      ${parsed}`,
    { limit: "1000", ...iso },
  ],
  [
    `${drilldown}/shardQuerySplitting.ts`,
    "label/__stream_shard__/values",
    '{service_name="api"}',
    hour,
  ],
  [
    "logs-drilldown 2.5.1 src/Components/AttributeDistribution/LokiFieldDistribution.tsx",
    "query",
    `sum by (status) (count_over_time({service_name="api"} ${parsed} | keep status [3600s]))`,
    { direction: "backward", time: hour.end },
  ],
];

const panels: Record<string, readonly string[]> = {
  // Explore: the user's query, and the volume above it. Older and newer releases group differently.
  [api]: ['{service="api"}', '{service="api"} |= `refused`'],
  [datasource]: [
    'sum by (level) (count_over_time({service="api"}[10s]))',
    'sum by (level, detected_level) (count_over_time({service="api"}[10s]))',
    'sum by (level, detected_level) (count_over_time({service="api"} | drop __error__[10s]))',
    'sum by (level, detected_level) (count_over_time({service="api"} | json | drop __error__[10s]))',
  ],
  [`${drilldown}/variables.ts LOG_STREAM_SELECTOR_EXPR`]: [
    `{service_name="api"}      ${parsed}  `,
    `{service_name="api"}  | detected_level="error"    ${parsed}  `,
  ],
  [`${drilldown}/expressions.ts`]: [
    'sum(count_over_time({service_name="api"}       [10s])) by (detected_level)',
    'sum(count_over_time({service_name="api"} | detected_level != ""      [10s])) by (detected_level)',
    `sum(count_over_time({service_name="api"}     ${parsed}   [10s])) by (detected_level)`,
    `sum(count_over_time({service_name="api"}      ${parsed}  [10s]))`,
  ],
  [`${drilldown}/labels.ts`]: [
    'sum(count_over_time({service_name="api" ,host != ""}        [10s])) by (host)',
    `sum(count_over_time({service_name="api"}  | detected_level != ""     ${parsed}    [10s])) by (detected_level)`,
  ],
  [`${drilldown}/fields.ts`]: [
    'sum by (status) (count_over_time({service_name="api"} | status!=""       [10s]))',
    'sum by (http_method) (count_over_time({service_name="api"} | http_method!=""       [10s]))',
    'avg_over_time({service_name="api"} | took!=""       | unwrap took | __error__="" [10s]) by ()',
  ],
  "logs-drilldown 2.5.1 src/Components/ServiceSelectionScene/ServiceSelectionScene.tsx": [
    'sum by (detected_level) (count_over_time({ service_name="api" } [10s]))',
    "{service_name=`api` }",
    `{service_name=\`api\` } ${parsed}`,
  ],
};

export const grafanaRequests: readonly GrafanaRequest[] = [
  ...requests.map(([source, path, query, more]) => ({
    source,
    path,
    parameters: { ...query !== undefined && { query }, ...more },
  })),
  ...Object.entries(panels).flatMap(([source, queries]) =>
    queries.map((query) => ({ source, path: "query_range", parameters: { query, ...panel } }))
  ),
];
