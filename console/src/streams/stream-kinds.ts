import { type Words } from "../shared/translate.ts";
import type { LogStream } from "../service/logloom.ts";

export type StreamKind = LogStream["kind"];

interface Setting {
  name: string;
  label: Words;
  sample: string;
  isNeeded: boolean;
}

interface Secret {
  name: string;
  label: Words;
  isNeeded: boolean;
}

export interface Kind {
  label: Words;
  settings: Setting[];
  secrets: Secret[];
  takesHeaders: boolean;
}

const needed = (name: string, label: Words, sample: string): Setting => ({
  name,
  label,
  sample,
  isNeeded: true,
});

const optional = (name: string, label: Words, sample: string): Setting => ({
  name,
  label,
  sample,
  isNeeded: false,
});

const url = (sample: string) => needed("url", "Address", sample);

/** The settings and secrets of each kind, as in docs/guides/streams.md. */
export const kinds: Record<StreamKind, Kind> = {
  webhook: {
    label: "Webhook",
    settings: [url("https://example.com/logs")],
    secrets: [{ name: "signing_secret", label: "Signing secret (whsec_…)", isNeeded: false }],
    takesHeaders: true,
  },
  otlp: {
    label: "OpenTelemetry (OTLP)",
    settings: [
      url("https://otel.example.com/v1/logs"),
      optional("encoding", "Encoding (json or protobuf)", "protobuf"),
    ],
    secrets: [],
    takesHeaders: true,
  },
  loki: {
    label: "Loki",
    settings: [url("https://loki.example.com/loki/api/v1/push")],
    secrets: [],
    takesHeaders: true,
  },
  elasticsearch: {
    label: "Elasticsearch",
    settings: [url("https://es.example.com/_bulk"), needed("index", "Index", "logs")],
    secrets: [],
    takesHeaders: true,
  },
  splunk_hec: {
    label: "Splunk",
    settings: [
      url("https://splunk.example.com/services/collector/event"),
      optional("index", "Index", "main"),
    ],
    secrets: [{ name: "token", label: "Token", isNeeded: true }],
    takesHeaders: true,
  },
  datadog: {
    label: "Datadog",
    settings: [
      url("https://http-intake.logs.datadoghq.com/api/v2/logs"),
      optional("tags", "Tags", "team:shop,env:prod"),
    ],
    secrets: [{ name: "api_key", label: "API key", isNeeded: true }],
    takesHeaders: true,
  },
  s3: {
    label: "Bucket (S3)",
    settings: [
      needed("endpoint", "Endpoint", "https://s3.eu-central-1.amazonaws.com"),
      needed("region", "Region", "eu-central-1"),
      needed("bucket", "Bucket", "my-logs"),
      optional("prefix", "Prefix", "logs/prod"),
      needed("access_key_id", "Access key", "AKIA…"),
    ],
    secrets: [{ name: "secret_access_key", label: "Secret access key", isNeeded: true }],
    takesHeaders: false,
  },
};

export const kindNames = Object.keys(kinds) as StreamKind[];
