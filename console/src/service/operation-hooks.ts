import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { Sealer, Service } from "./client.ts";
import { shareTimed, timed } from "./answer-times.ts";
import type {
  AnswerOf,
  Item,
  ListName,
  LogloomError,
  OperationName,
  ParametersOf,
} from "./logloom.ts";

export const ServiceContext = createContext<Service | null>(null);

export function useService(): Service {
  const service = useContext(ServiceContext);
  if (!service) throw new Error("there is no service above this component");
  return service;
}

/** The operations that a page of the portal may call, or null: the service decides on each call. */
export const OperationsContext = createContext<readonly OperationName[] | null>(null);

/** Whether to call an operation that only adds something to a screen. */
export function useHas(operation: OperationName): boolean {
  return useContext(OperationsContext)?.includes(operation) ?? true;
}

interface Options {
  enabled?: boolean;
  /** Shows the last answer to the same query, marked as old, until the new one arrives. */
  keep?: boolean;
  /** Repeats the call after this many milliseconds. */
  every?: number | false;
}

/** An operation's answer, cached by name and parameters. */
export function useOperation<Name extends OperationName>(
  operation: Name,
  parameters: ParametersOf<Name>,
  { enabled = true, keep = false, every = false }: Options = {},
) {
  const service = useService();
  return useQuery<AnswerOf<Name>, LogloomError>({
    queryKey: [operation, parameters],
    queryFn: ({ signal }) => timed(() => service.call(operation, parameters, { signal })),
    structuralSharing: shareTimed,
    enabled,
    // Never shows an answer under another query.
    placeholderData: keep
      ? (data, before) => queryOf(before?.queryKey[1]) === queryOf(parameters) ? data : undefined
      : undefined,
    refetchInterval: every,
  });
}

/** All items of a list, loaded page by page. */
export function useWholeList<Name extends ListName>(operation: Name, every: number) {
  const service = useService();
  return useQuery<Item<Name>[], LogloomError>({
    queryKey: [operation, "whole"],
    queryFn: async ({ signal }) => {
      const items: Item<Name>[] = [];
      for await (const item of service.list(operation, undefined, { signal })) items.push(item);
      return items;
    },
    refetchInterval: every,
  });
}

const queryOf = (parameters: unknown): unknown => Object(parameters).p_query_dsl;

/** Attributes that mark a part of the page as old while its new answer loads. */
export function marksOld(isOld: boolean): { "aria-busy"?: true; "data-old"?: "" } {
  return isOld ? { "aria-busy": true, "data-old": "" } : {};
}

/** An operation that changes something. `changes` names the operations whose answers must be loaded again. */
export function useChange<Name extends OperationName>(
  operation: Name,
  changes: readonly OperationName[],
  /** Runs after a success, even if the component that started it is gone. */
  onDone?: (answer: AnswerOf<Name>) => void,
) {
  const service = useService();
  const queries = useQueryClient();
  return useMutation<AnswerOf<Name>, LogloomError, ParametersOf<Name>>({
    mutationFn: (parameters) => service.call(operation, parameters),
    onSuccess: (answer) => {
      onDone?.(answer);
      return forget(queries, changes);
    },
  });
}

type Sealing =
  | "create_log_stream"
  | "update_log_stream"
  | "create_alert_rule"
  | "update_alert_rule"
  | "create_ingest_rule"
  | "update_ingest_rule";

/** Like `useChange`, for operations with secrets: seals typed secrets first. Null removes a secret. */
export function useSealedChange<Name extends Sealing>(
  operation: Name,
  sealer: Sealer,
  changes: readonly OperationName[],
) {
  const service = useService();
  const queries = useQueryClient();
  return useMutation<AnswerOf<Name>, LogloomError, ParametersOf<Name>>({
    mutationFn: async (parameters) => {
      const given = Object.entries(parameters.p_secrets ?? {});
      const typed = given.filter((one): one is [string, string] => one[1] !== null);
      const sealed = typed.length === 0
        ? {}
        : await service.seal(sealer, Object.fromEntries(typed));
      const p_secrets = given.length === 0
        ? undefined
        : { ...Object.fromEntries(given.filter(([, text]) => text === null)), ...sealed };
      return await service.call(operation, { ...parameters, p_secrets });
    },
    onSuccess: () => forget(queries, changes),
  });
}

export function forget(
  queries: QueryClient,
  operations: readonly OperationName[],
): Promise<unknown> {
  return Promise.all(
    operations.map((operation) => queries.invalidateQueries({ queryKey: [operation] })),
  );
}
