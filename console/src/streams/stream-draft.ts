import type { LogStream, ParametersOf } from "../service/logloom.ts";
import type { Secrets } from "../service/client.ts";
import { say } from "../shared/translate.ts";
import { kinds, type StreamKind } from "./stream-kinds.ts";

/** The values of the form. */
export interface Draft {
  stream_id?: string;
  name: string;
  kind: StreamKind;
  source: LogStream["source"];
  query_dsl: string;
  /** Empty for all records of the tenant. */
  view_id: string;
  config: Record<string, string>;
  secrets: Secrets;
  enabled: boolean;
}

export function draftOf(stream: Partial<LogStream>): Draft {
  return {
    stream_id: stream.stream_id,
    name: stream.name ?? "",
    kind: stream.kind ?? "webhook",
    source: stream.source ?? "logs",
    query_dsl: stream.query_dsl ?? "",
    view_id: stream.view_id ?? "",
    config: { ...stream.config },
    secrets: {},
    enabled: stream.enabled ?? true,
  };
}

/** Only the settings of the chosen kind. Others may have been typed for another kind. */
function configOf({ kind, config }: Draft): Record<string, string> {
  return Object.fromEntries(
    kinds[kind].settings.flatMap(({ name }) => {
      const value = config[name]?.trim() ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );
}

function secretsOf({ kind, secrets }: Draft): Secrets {
  const { secrets: known, takesHeaders } = kinds[kind];
  return Object.fromEntries(
    Object.entries(secrets).filter(([name]) =>
      known.some((one) => one.name === name) || (takesHeaders && name.startsWith("header."))
    ),
  );
}

/** An error with the form's word for the setting that it is about. */
export function inWords(error: Error | null, kind: StreamKind): Error | string | null {
  const [, name] = /^Invalid p_config: (\w+)$/.exec(error?.message ?? "") ?? [];
  if (name === "url" || name === "endpoint") {
    return say("An address begins with https:// and contains no user, password or key.");
  }
  const setting = kinds[kind].settings.find((one) => one.name === name);
  return setting ? say("Invalid value: {label}", { label: say(setting.label) }) : error;
}

export function createdBy(draft: Draft): ParametersOf<"create_log_stream"> {
  return {
    p_name: draft.name,
    p_kind: draft.kind,
    p_source: draft.source,
    p_query_dsl: draft.query_dsl,
    p_view_id: draft.source === "logs" && draft.view_id || undefined,
    p_config: configOf(draft),
    p_secrets: secretsOf(draft),
    p_enabled: draft.enabled,
  };
}

export function changedBy(draft: Draft, id: string): ParametersOf<"update_log_stream"> {
  return {
    p_stream_id: id,
    p_name: draft.name,
    p_query_dsl: draft.query_dsl,
    p_view_id: draft.view_id || undefined,
    p_config: configOf(draft),
    p_secrets: secretsOf(draft),
  };
}
