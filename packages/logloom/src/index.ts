export type { Rejected } from "./delivery.ts";
export type { WaitUntil } from "./host.ts";
export { createLogger, type LoggerOptions } from "./logger.ts";
export type { SenderOptions, SupabaseClientLike } from "./sender.ts";
export type { ValueOptions } from "./values.ts";
export type { Fields, Level, Log, Logger, RequestContext } from "./types.ts";
