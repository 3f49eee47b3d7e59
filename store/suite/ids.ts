/** A name as a branded id: the suite makes readable ids, and a store takes any text. */
export function id<T extends string>(name: string): T {
  return name as T;
}
