declare const refused: unique symbol;

/** No value has this type. The compiler shows its name, so that is the message for a misspelled key … */
interface MisspelledKeyOf<Of extends string> {
  readonly [refused]: Of;
}

/** … and this one for what the method of an operation excludes. */
export interface NotPossibleFor<Method> {
  readonly [refused]: Method;
}

/** Refuses the keys of `T` that `Known` lacks. A generic parameter takes any. */
export type NoOthers<T, Known, Of extends string> = {
  readonly [K in Exclude<keyof T, keyof Known>]: MisspelledKeyOf<Of>;
};
