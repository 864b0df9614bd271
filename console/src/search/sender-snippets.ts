import { type Words } from "../shared/translate.ts";
export interface Sender {
  name: string;
  about: Words;
  text: (url: string, key: string) => string;
}

/** Snippets that send a first event, with the project's address and key. */
export const senders: Sender[] = [
  {
    name: "curl",
    about: "One event; an array of them works as well.",
    text: (url, key) =>
      `curl ${url}/functions/v1/ingest \\
  -H 'X-API-Key: ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"level":"info","msg":"hello","service":"shell"}'`,
  },
  {
    name: "JavaScript",
    about: "Node, Deno, browsers, workers: nothing to install.",
    text: (url, key) =>
      `await fetch("${url}/functions/v1/ingest", {
  method: "POST",
  headers: { "X-API-Key": "${key}", "Content-Type": "application/json" },
  body: JSON.stringify([{ level: "info", msg: "hello", service: "web", attrs: { answer: 42 } }]),
});`,
  },
  {
    name: "pino",
    about: "pino's lines need no conversion. npm run ship follows a file or a pipe.",
    text: (url, key) =>
      `LOGLOOM_URL=${url} LOGLOOM_API_KEY=${key} \\
  node app.js | npm run ship -- -`,
  },
  {
    name: "winston",
    about: "winston's Http transport: one request for each event.",
    text: (url, key) => {
      const { hostname, port, protocol } = new URL(url);
      return `import winston from "winston";

const logger = winston.createLogger({
  transports: [
    new winston.transports.Http({
      host: "${hostname}",${port ? `\n      port: ${port},` : ""}
      ssl: ${protocol === "https:"},
      path: "/functions/v1/ingest",
      headers: { "X-API-Key": "${key}" },
    }),
  ],
});
logger.info("hello", { service: "web" });`;
    },
  },
  {
    name: "OpenTelemetry",
    about: "Any OTLP exporter over HTTP, or the Collector's otlphttp exporter.",
    text: (url, key) =>
      `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=${url}/functions/v1/ingest/otlp/v1/logs
OTEL_EXPORTER_OTLP_LOGS_HEADERS=x-api-key=${key}
OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/json`,
  },
  {
    name: "Fluent Bit",
    about: "An output of Fluent Bit's configuration; it sends JSON arrays.",
    text: (url, key) => {
      const { hostname, port, protocol } = new URL(url);
      const isTls = protocol === "https:";
      return `[OUTPUT]
    Name    http
    Match   *
    Host    ${hostname}
    Port    ${port || (isTls ? 443 : 80)}
    URI     /functions/v1/ingest
    Format  json
    Header  X-API-Key ${key}
    Tls     ${isTls ? "On" : "Off"}`;
    },
  },
  {
    name: "Supabase log drain",
    about: "Project settings, Log Drains, Generic HTTP endpoint.",
    text: (url, key) =>
      `URL      ${url}/functions/v1/ingest
Headers  X-API-Key: ${key}`,
  },
];
