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
  /** Keeps an answer on the screen, marked as old, until the next one to the same query arrives. */
  keep?: boolean;
  /** Milliseconds between two calls. */
  every?: number | false;
}

/** An operation's answer, cached by name and parameters. */
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

/** Whether an earlier answer may be shown while waiting: never under another query. */
function isSameQuestion(
  before: unknown,
  parameters: Record<string, unknown>,
): boolean {
  return (before as Record<string, unknown> | undefined)?.p_query_dsl ===
    parameters.p_query_dsl;
}

/** Marks a part of the page whose answer is to an earlier question. */
export function marksOld(
  isOld: boolean,
): { "aria-busy"?: true; "data-old"?: "" } {
  return isOld ? { "aria-busy": true, "data-old": "" } : {};
}

/** An operation that changes something; `changes` names the operations whose answers become old. */
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

/** A permanent error is not retried; an unreachable or busy service is, for some seconds. */
export function shouldRetry(failures: number, error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return (error.isAway || error.status === 429) && failures < 3;
}

/** The pause before a retry: as the service says, else longer with each failure. */
export function retryDelay(failures: number, error: unknown): number {
  const told = error instanceof ServiceError ? error.retryAfter : null;
  const milliseconds = told === null ? 500 * 2 ** failures : told * 1000;
  // Spreads the retries of a page.
  return Math.min(5000, milliseconds) * (0.8 + 0.4 * Math.random());
}
