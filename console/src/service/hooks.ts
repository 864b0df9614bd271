import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { Service } from "./client.ts";
import { ServiceError } from "./errors.ts";

export const ServiceContext = createContext<Service | null>(null);

export function useService(): Service {
  const service = useContext(ServiceContext);
  if (!service) throw new Error("there is no service above this component");
  return service;
}

interface Options {
  enabled?: boolean;
  /** Keeps an answer on the screen, marked as old, until the next one to the same query is here. */
  keep?: boolean;
  /** Milliseconds between two calls. */
  every?: number | false;
}

/** What an operation answers, kept under its name and parameters. */
export function useOperation<Result>(
  operation: string,
  parameters: Record<string, unknown> = {},
  { enabled = true, keep = false, every = false }: Options = {},
) {
  const service = useService();
  return useQuery<Result, ServiceError>({
    queryKey: [operation, parameters],
    queryFn: ({ signal }) => service.call<Result>(operation, parameters, signal),
    enabled,
    placeholderData: keep
      ? (data, before) => isSameQuestion(before?.queryKey[1], parameters) ? data : undefined
      : undefined,
    refetchInterval: every,
  });
}

/** Whether an earlier answer may stand in for the one that is awaited: never under another query. */
function isSameQuestion(
  before: unknown,
  parameters: Record<string, unknown>,
): boolean {
  return (before as Record<string, unknown> | undefined)?.p_query_dsl ===
    parameters.p_query_dsl;
}

/** What says of a part of the page that its answer is to an earlier question, the next being awaited. */
export function marksOld(
  isOld: boolean,
): { "aria-busy"?: true; "data-old"?: "" } {
  return isOld ? { "aria-busy": true, "data-old": "" } : {};
}

/** An operation that changes something; `changes` names the operations whose answers it makes old. */
export function useChange<
  Parameters extends Record<string, unknown>,
  Result = unknown,
>(
  operation: string,
  changes: string[],
) {
  const service = useService();
  const queries = useQueryClient();
  return useMutation<Result, ServiceError, Parameters>({
    mutationFn: (parameters) => service.call<Result>(operation, parameters),
    onSuccess: () => forget(queries, changes),
  });
}

export function forget(
  queries: QueryClient,
  operations: string[],
): Promise<unknown> {
  return Promise.all(
    operations.map((operation) => queries.invalidateQueries({ queryKey: [operation] })),
  );
}

/** What cannot get better by asking again is not asked again; a service that is away or busy is, for some seconds. */
export function shouldRetry(failures: number, error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return (error.isAway || error.status === 429) && failures < 3;
}

/** After what time to ask again: as the service says, else longer with each failure. */
export function retryDelay(failures: number, error: unknown): number {
  const told = error instanceof ServiceError ? error.retryAfter : null;
  const milliseconds = told === null ? 500 * 2 ** failures : told * 1000;
  // Not all of a page's questions at the same moment again.
  return Math.min(5000, milliseconds) * (0.8 + 0.4 * Math.random());
}
