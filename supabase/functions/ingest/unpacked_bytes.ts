export type Bytes = Uint8Array<ArrayBuffer>;

/** The content of a compressed body. */
export interface Unpacked {
  readonly count: number;
  /** Undefined beyond the limit. */
  readonly bytes: Bytes | undefined;
}
