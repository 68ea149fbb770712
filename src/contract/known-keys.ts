declare const refused: unique symbol;

/** No value has this type. The compiler shows its name, which is the message for a misspelled key. */
interface MisspelledKeyOf<Of extends string> {
  readonly [refused]: Of;
}

/** The same for a part that the method of an operation excludes. */
export interface NotPossibleFor<Method> {
  readonly [refused]: Method;
}

/** Refuses the keys of `T` that `Known` lacks. TypeScript alone accepts them where `T` is inferred. */
export type NoOthers<T, Known, Of extends string> = {
  readonly [K in Exclude<keyof T, keyof Known>]: MisspelledKeyOf<Of>;
};
