export * from "../../../packages/logloom/src/read.ts";
export { refusalOf } from "../../../packages/logloom/src/read/refusal.ts";
