export { LogloomError } from "./read/error.ts";
export type { Operations } from "./read/operations.ts";
export {
  type AnswerOf,
  type ChartOptions,
  createReader,
  type ExportOptions,
  type Item,
  type ListName,
  type OperationName,
  type ParametersOf,
  type RangeOptions,
  type Reader,
  type RecordOptions,
  type RecordsOptions,
  type SearchOptions,
  type TailOptions,
  type Time,
} from "./read/reader.ts";
export type {
  CallOptions,
  Patience,
  ReaderOptions,
  ReadKey,
  Session,
  SupabaseClientLike,
} from "./read/service.ts";
export type * from "./read/types.ts";
