/** The parts of React's types that the component needs. An application has all of them. */
declare module "react" {
  export interface ReactElement {
    readonly type: unknown;
    readonly props: unknown;
    readonly key: string | null;
  }
  export function createElement(type: string, props: object): ReactElement;
  export function useEffect(effect: () => void | (() => void), watched: readonly unknown[]): void;
  export function useSyncExternalStore<Value>(
    subscribe: (changed: () => void) => () => void,
    inPage: () => Value,
    onServer: () => Value,
  ): Value;
  export function useRef<Value>(initial: Value): { current: Value };
}
